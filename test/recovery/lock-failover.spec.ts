import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import type { RedisStoreOptions } from '../../src/store/index.js';
import { eventually } from '../support/eventually.js';
import { FencedCounters } from '../support/fenced-counter.js';
import { type Failover, FAILOVER_MS, failoversOf } from '../support/failovers.js';
import { recordFigures } from '../support/figures.js';
import { LockFleet } from '../support/lock-fleet.js';
import { CHAOS_LOADS, COUNTED_KEYS } from '../support/lock-loads.js';
import { judge, longestGap } from '../support/lock-verdict.js';
import { monotonicNow } from '../support/lock-worker.js';
import { pass } from '../support/pass.js';
import { isFullProof, sized } from '../support/proof-scale.js';
import { startCluster, startSentinel } from '../support/redis-kinds.js';
import { ask } from '../support/redis-sentinel.js';
import { type RedisServer, startRedisServer } from '../support/redis-server.js';

jest.setTimeout(sized(120_000, 900_000));

const SIZE = 4;
const ROUNDS = sized(1, 3);
/** Of the ways in which a master goes. */
const WAYS = sized(1, 3);
const PREFIX = 'failover:';
/** The lock whose master fails. */
const KEY = 'one';
const HASH = `${PREFIX}lk:{${KEY}}`;

let guard: RedisServer;
let counters: FencedCounters;
let fleet: LockFleet | undefined;

beforeAll(async () => {
  guard = await startRedisServer();
});

afterEach(async () => {
  await fleet?.kill();
  fleet = undefined;
  counters.close();
});

afterAll(() => guard.stop());

/** Lets processes work while masters go, and looks at what they guarded. @returns the longest time without a grant, by failover */
async function workThrough(
  storeOptions: RedisStoreOptions,
  failovers: readonly Failover[],
): Promise<Readonly<Record<string, readonly number[]>>> {
  await ask(guard, (redis) => redis.flushall());
  counters = new FencedCounters(guard);
  const running = await LockFleet.start({ size: SIZE, storeOptions, guard, loads: CHAOS_LOADS });
  fleet = running;
  const hasBegunSince = (since: number): boolean =>
    running.sections.some(({ from, holds }) => from > since && holds.some(({ key }) => key === KEY));
  await eventually(() => hasBegunSince(0), FAILOVER_MS);
  const gaps: Record<string, number[]> = {};
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const failover of failovers.slice(0, WAYS)) {
      const from = monotonicNow();
      await failover.fail();
      const failedAt = monotonicNow();
      await eventually(() => hasBegunSince(failedAt), FAILOVER_MS);
      const gapMs = longestGap(running.sections, KEY, { from, until: monotonicNow() });
      gaps[failover.name] = [...(gaps[failover.name] ?? []), Math.round(gapMs)];
      await failover.mend();
      await pass(sized(0, 1_000));
    }
  }
  const ends = await running.stop();
  expect([...ends, ...judge(running, { keepsData: false }), ...(await counters.findings(COUNTED_KEYS))]).toEqual([]);
  expect(await counters.read(KEY)).toBeGreaterThan(Math.min(WAYS, failovers.length) * ROUNDS);
  return gaps;
}

describe('locks of four processes whose masters fail', () => {
  it.each([
    // A small run has one of Sentinel in failover.spec.ts.
    ...(isFullProof ? [{ kind: 'Sentinel', start: startSentinel, replicas: 2 }] : []),
    { kind: 'Cluster', start: startCluster, replicas: 1 },
  ])('keep what they guard through $kind failovers', async ({ kind, start, replicas }) => {
    const redis = await start();
    const { killed, planned, frozen } = failoversOf(redis, HASH, replicas);
    try {
      const gaps = await workThrough(redis.options(PREFIX), [killed, planned, frozen]);
      recordFigures('lock-chaos', { [`gapMsBy${kind}Failover`]: gaps });
    } finally {
      await redis.stop();
    }
  });
});
