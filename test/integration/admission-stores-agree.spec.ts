import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  type AdmissionBench,
  EndlessTable,
  memoryBench,
  redisBench,
  type RedisAdmissionBench,
  scopeOf,
} from '../support/admission-bench.js';
import { admissionSequences } from '../support/admission-sequences.js';
import { sized } from '../support/proof-scale.js';
import { type RedisServer, startRedisServer } from '../support/redis-server.js';

const RUNS = sized(30, 2_000);
const TIMEOUT_MS = sized(60_000, 3_600_000);

describe('MemoryAdmissionStore and RedisAdmissionStore', () => {
  let server: RedisServer;
  let redis: RedisAdmissionBench;
  let memory: AdmissionBench;

  beforeAll(async () => {
    server = await startRedisServer();
    redis = await redisBench(server, 'agree:');
    memory = await memoryBench(redis.clock, new EndlessTable());
  });
  afterAll(async () => {
    await redis.close();
    await server.stop();
  });

  it(
    'give the same answers, show the same state, and send the same messages',
    async () => {
      let runs = 0;
      await fc.assert(
        fc.asyncProperty(admissionSequences, async ({ limits, changed, steps }) => {
          runs += 1;
          for (const [index, step] of steps.entries()) {
            const scope = scopeOf((index > steps.length / 2 ? changed : undefined) ?? limits, `scope:${runs}`);
            redis.clock.us += step.passMs * 1_000;
            const answers = [await step.run(redis.store, scope), await step.run(memory.store, scope)];
            const states = [await redis.store.inspect(scope), await memory.store.inspect(scope)];
            expect([step.words, answers[0], states[0]]).toEqual([step.words, answers[1], states[1]]);
          }
          expect(byProcess(await redis.heard())).toEqual(byProcess(await memory.heard()));
        }),
        { numRuns: RUNS, plugins: [fc.interruptAfterTimeLimit(0.8 * TIMEOUT_MS, { failOnInterrupt: true })] },
      );
    },
    TIMEOUT_MS,
  );
});

/** Channels have no order among each other. */
function byProcess(heard: Awaited<ReturnType<AdmissionBench['heard']>>): unknown {
  return [...heard].sort(([one], [other]) => one.localeCompare(other));
}
