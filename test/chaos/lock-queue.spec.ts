import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { LockService, RedisLockStore } from '../../src/lock/index.js';
import { RedisStore } from '../../src/store/index.js';
import { eventually } from '../support/eventually.js';
import { FencedCounters } from '../support/fenced-counter.js';
import { recordFigures } from '../support/figures.js';
import { LockFleet } from '../support/lock-fleet.js';
import { LockMonitor } from '../support/lock-monitor.js';
import { judge } from '../support/lock-verdict.js';
import { sized } from '../support/proof-scale.js';
import { ask } from '../support/redis-sentinel.js';
import { type RedisServer, startRedisServer } from '../support/redis-server.js';

jest.setTimeout(sized(120_000, 300_000));

const SIZE = 4;
const WAITERS = sized(200, 1_000);
const PREFIX = 'queue:';

describe(`${WAITERS} waiters of ${SIZE} processes on one key`, () => {
  let server: RedisServer;
  let guard: RedisServer;
  let counters: FencedCounters;
  let monitor: LockMonitor;
  let store: RedisStore;
  let locks: LockService;
  let fleet: LockFleet | undefined;

  beforeAll(async () => {
    [server, guard] = await Promise.all([startRedisServer(), startRedisServer()]);
    counters = new FencedCounters(guard);
    monitor = await LockMonitor.start(server, `${PREFIX}lk:{k}:q`);
    store = new RedisStore({ kind: 'standalone', ...server, db: 0, tls: false, keyPrefix: PREFIX });
    locks = new LockService(new RedisLockStore(store));
  });

  afterAll(async () => {
    await fleet?.kill();
    await locks.close();
    await store.close();
    monitor.close();
    counters.close();
    await Promise.all([server.stop(), guard.stop()]);
  });

  it('are served one by one in the order in which Redis took them in, each for two calls and a bit', async () => {
    const { host, port } = server;
    const lease = await locks.acquire('k');
    await ask(server, (redis) => redis.config('RESETSTAT'));
    const countedFrom = performance.now();
    fleet = await LockFleet.start({
      size: SIZE,
      storeOptions: { kind: 'standalone', host, port, db: 0, tls: false, keyPrefix: PREFIX },
      guard,
      loads: [
        {
          tasks: WAITERS / SIZE,
          rounds: 1,
          keySets: [['k']],
          modes: ['exclusive'],
          isScoped: false,
          leaseMs: 10_000,
          waitMs: 120_000,
          holdMs: [0, 0],
          restMs: 0,
        },
      ],
    });
    await eventually(async () => (await locks.inspect('k'))?.queued === WAITERS);
    const startedAt = performance.now();
    await lease.release();
    const ends = await fleet.stop();
    const elapsedMs = performance.now() - startedAt;

    const served = fleet.sections.toSorted((one, other) => one.from - other.from);
    const tickets = new Map(monitor.places.map(({ token, ticket }) => [token, ticket]));
    const calls = await scriptCalls(server);
    const waits = fleet.settled.map(({ askedAt, settledAt }) => settledAt - askedAt);
    recordFigures('lock-chaos', {
      queue: {
        waiters: WAITERS,
        processes: SIZE,
        inversions: inversionsOf(served.map(({ token }) => tickets.get(token) ?? 0)),
        callsPerGrant: Math.round((calls / WAITERS) * 1_000) / 1_000,
        repeatedCalls: monitor.repeats,
        drainMs: Math.round(elapsedMs),
        longestWaitMs: Math.round(Math.max(...waits)),
      },
    });
    expect(ends).toEqual([]);
    expect(fleet.settled.filter(({ outcome }) => outcome !== 'granted')).toEqual([]);
    expect(monitor.places).toHaveLength(WAITERS);
    expect(inversionsOf(monitor.places.map(({ ticket }) => ticket))).toBe(0);
    expect(served.map(({ token }) => token)).toEqual(monitor.places.map(({ token }) => token));
    expect([...judge(fleet), ...(await counters.findings(['k']))]).toEqual([]);
    expect(await counters.read('k')).toBe(WAITERS);
    // Each process also gives a sign of life twice a second, however long the machine takes.
    const beats = (SIZE * (performance.now() - countedFrom)) / 500;
    expect(calls - monitor.repeats).toBeLessThanOrEqual(2.2 * WAITERS + beats);
    expect(await ask(server, (redis) => redis.keys(`${PREFIX}lk:*:[eqa]`))).toEqual([]);
  });
});

/** Pairs of neighbours in the wrong order. */
function inversionsOf(numbers: readonly number[]): number {
  return numbers.filter((number, index) => index > 0 && number <= (numbers[index - 1] ?? 0)).length;
}

/** What clients asked of the server; what scripts do within it is not counted. */
async function scriptCalls(server: RedisServer): Promise<number> {
  const stats = await ask(server, (redis) => redis.info('commandstats'));
  const counts = [...stats.matchAll(/^cmdstat_eval(?:sha)?:calls=(\d+)/gm)].map(([, calls]) => Number(calls));
  return counts.reduce((sum, count) => sum + count, 0);
}
