import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { LOCK_LIMITS } from '../../src/lock/lock.limits.js';
import { EndlessTable, memoryBench, redisBench, type RedisBench } from '../support/lock-bench.js';
import { LockComparison } from '../support/lock-comparison.js';
import { sequences } from '../support/lock-sequences.js';
import { sized } from '../support/proof-scale.js';
import { type RedisServer, startRedisServer } from '../support/redis-server.js';

const RUNS = sized(40, 1_000);
const TIMEOUT_MS = sized(120_000, 3_600_000);

describe('MemoryLockStore and RedisLockStore', () => {
  let server: RedisServer;
  let redis: RedisBench;
  let comparison: LockComparison;

  beforeAll(async () => {
    server = await startRedisServer();
    redis = await redisBench(server, 'agree:');
    comparison = new LockComparison(redis, await memoryBench(redis.clock, new EndlessTable(LOCK_LIMITS)));
  });
  afterAll(async () => {
    await redis.close();
    await server.stop();
  });

  it(
    'give the same answers, keep the same state as long, and send the same messages',
    async () => {
      let runs = 0;
      await fc.assert(
        fc.asyncProperty(sequences, async (sequence) => {
          runs += 1;
          for (const step of sequence) {
            const sight = await comparison.run(step, `k${runs}`);
            expect(sight.redis).toEqual(sight.memory);
          }
          const heard = await comparison.heard();
          expect(heard.redis).toEqual(heard.memory);
        }),
        { numRuns: RUNS, plugins: [fc.interruptAfterTimeLimit(0.8 * TIMEOUT_MS, { failOnInterrupt: true })] },
      );
    },
    TIMEOUT_MS,
  );
});
