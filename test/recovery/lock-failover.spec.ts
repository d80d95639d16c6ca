import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import type { RedisStoreOptions } from '../../src/store/index.js';
import { eventually } from '../support/eventually.js';
import { FencedCounters } from '../support/fenced-counter.js';
import { recordFigures } from '../support/figures.js';
import { LockFleet } from '../support/lock-fleet.js';
import { CHAOS_LOADS, COUNTED_KEYS } from '../support/lock-loads.js';
import { judge, longestGap } from '../support/lock-verdict.js';
import { monotonicNow } from '../support/lock-worker.js';
import { pass } from '../support/pass.js';
import { sized } from '../support/proof-scale.js';
import { startRedisCluster } from '../support/redis-cluster.js';
import { ask, startRedisSentinel } from '../support/redis-sentinel.js';
import { type RedisServer, startRedisServer } from '../support/redis-server.js';

jest.setTimeout(sized(120_000, 900_000));

const SIZE = 4;
const ROUNDS = sized(1, 3);
/** Of the ways in which a master goes. */
const WAYS = sized(1, 3);
const ACCESS = { db: 0, tls: false, keyPrefix: 'failover:' };
/** The lock whose master fails. */
const KEY = 'one';
const HASH = `${ACCESS.keyPrefix}lk:{${KEY}}`;
/** Noticing, electing and reconnecting take seconds; on a busy machine more. */
const FAILOVER_MS = 45_000;

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

/** One way in which a master goes, and how all is well again. */
interface Failover {
  readonly name: string;
  fail(): Promise<void>;
  /** Called when locks are granted again. */
  mend(): Promise<void>;
}

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
  it('keep what they guard through Sentinel failovers', async () => {
    const sentinel = await startRedisSentinel({ failoverTimeoutMs: sized(1_500, 3_000) });
    let old = await sentinel.master();
    // Sentinels that are hurried from one failover to the next may make two servers replicas of each other for half a minute.
    const mend = (): Promise<void> => eventually(() => hasReplicas(() => sentinel.master(), sized(1, 2)), FAILOVER_MS);
    const elsewhere = (): Promise<void> =>
      eventually(async () => (await sentinel.master()).port !== old.port, FAILOVER_MS);
    try {
      const { sentinels, masterName: master } = sentinel;
      const gaps = await workThrough({ kind: 'sentinel', sentinels: addresses(sentinels), master, ...ACCESS }, [
        {
          name: 'the master is killed',
          fail: async () => {
            old = await sentinel.master();
            await old.crash();
            await elsewhere();
          },
          mend: async () => {
            await old.restart();
            await mend();
          },
        },
        {
          name: 'SENTINEL FAILOVER',
          fail: () => eventually(() => sentinel.failOver().then(() => true), FAILOVER_MS),
          mend,
        },
        {
          name: 'the master stands still for longer than down-after',
          fail: async () => {
            old = await sentinel.master();
            old.freeze();
            await elsewhere();
          },
          mend: async () => {
            old.thaw();
            await mend();
          },
        },
      ]);
      recordFigures('lock-chaos', { gapMsBySentinelFailover: gaps });
    } finally {
      await sentinel.stop();
    }
  });

  it('keep what they guard through Cluster failovers', async () => {
    const cluster = await startRedisCluster();
    let old = await cluster.masterOf(HASH);
    const elsewhere = (): Promise<void> =>
      eventually(async () => (await cluster.masterOf(HASH)).port !== old.port, FAILOVER_MS);
    const mend = (): Promise<void> => eventually(() => hasReplicas(() => cluster.masterOf(HASH), 1), FAILOVER_MS);
    try {
      const gaps = await workThrough({ kind: 'cluster', nodes: addresses(cluster.nodes), ...ACCESS }, [
        {
          name: 'a master is killed',
          fail: async () => {
            old = await cluster.masterOf(HASH);
            await old.crash();
            await elsewhere();
          },
          mend: async () => {
            await old.restart();
            await mend();
          },
        },
        {
          name: 'CLUSTER FAILOVER',
          fail: () => eventually(() => cluster.failOver(HASH).then(() => true), FAILOVER_MS),
          mend,
        },
      ]);
      recordFigures('lock-chaos', { gapMsByClusterFailover: gaps });
    } finally {
      await cluster.stop();
    }
  });
});

function addresses(servers: readonly RedisServer[]): readonly { readonly host: string; readonly port: number }[] {
  return servers.map(({ host, port }) => ({ host, port }));
}

/** Without one there is nobody to fail over to. */
async function hasReplicas(master: () => Promise<RedisServer>, count: number): Promise<boolean> {
  const info = await ask(await master(), (redis) => redis.info('replication'));
  return (info.match(/state=online/g)?.length ?? 0) >= count;
}
