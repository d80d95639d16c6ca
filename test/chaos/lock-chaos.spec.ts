import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { SeededRandom } from '../simulation/seeded.random.js';
import { disturb, type Disturbance } from '../support/chaos.js';
import { eventually } from '../support/eventually.js';
import { type FaultProxy, startFaultProxy } from '../support/fault-proxy.js';
import { FencedCounters } from '../support/fenced-counter.js';
import { recordFigures } from '../support/figures.js';
import { dataLoss, networkDisturbances, serverDisturbances, workerDisturbances } from '../support/lock-disturbances.js';
import { LockFleet } from '../support/lock-fleet.js';
import { CHAOS_LOADS, COUNTED_KEYS } from '../support/lock-loads.js';
import { judge, longestGap } from '../support/lock-verdict.js';
import { type Load, monotonicNow } from '../support/lock-worker.js';
import { sized } from '../support/proof-scale.js';
import { ask } from '../support/redis-sentinel.js';
import { type RedisServer, startRedisServer } from '../support/redis-server.js';

jest.setTimeout(sized(120_000, 600_000));

const SIZE = 4;
const DURABLE = ['--appendonly', 'yes', '--appendfsync', 'always'];
const PREFIX = 'chaos:';
/** When the faults are over every key is granted again within a lease, a dead waiter's grace, and a reconnection. */
const RECOVERY_MS = 15_000;

let server: RedisServer;
let guard: RedisServer;
let proxy: FaultProxy;
let counters: FencedCounters;
let fleet: LockFleet | undefined;

beforeEach(async () => {
  [server, guard] = await Promise.all([startRedisServer(DURABLE), startRedisServer()]);
  proxy = await startFaultProxy({ target: server });
  counters = new FencedCounters(guard);
});

afterEach(async () => {
  await fleet?.kill();
  fleet = undefined;
  counters.close();
  await proxy.close();
  await Promise.all([server.stop(), guard.stop()]);
});

async function startFleet(loads: readonly Load[]): Promise<LockFleet> {
  const { host, port } = proxy;
  const storeOptions = { kind: 'standalone', host, port, db: 0, tls: false, keyPrefix: PREFIX } as const;
  fleet = await LockFleet.start({ size: SIZE, storeOptions, guard, loads });
  return fleet;
}

/** A run's chance; the same seed asks for the same disturbances. It is in the names of the tests, so that every failure tells it. */
const SEED = Number(process.env['CHAOS_SEED'] ?? Date.now() % 1_000_000);

/** What is held or waited for in Redis. */
async function leftovers(): Promise<readonly string[]> {
  const names = await ask(server, (redis) => redis.keys(`${PREFIX}lk:*`));
  return names.filter((name) => /:[eqa]$/.test(name));
}

describe('locks of four processes on one Redis', () => {
  it.each([
    ['that keeps its data', false],
    ['that loses its data now and then', true],
  ])(`hold through chaos, %s (CHAOS_SEED=${SEED})`, async (name, losesData) => {
    const random = new SeededRandom(SEED);
    const losses: number[] = [];
    const running = await startFleet(CHAOS_LOADS);
    const disturbances: readonly Disturbance[] = [
      ...workerDisturbances(running, SIZE),
      ...serverDisturbances(server),
      ...networkDisturbances(proxy),
      ...(losesData ? [dataLoss(server, losses)] : []),
    ];
    const startedAt = monotonicNow();
    const happened = await disturb(disturbances, random, {
      durationMs: sized(3_000, 60_000),
      pauseMs: 500,
    });
    proxy.clear();
    const healedAt = monotonicNow();
    await eventually(() => keysBegunSince(running, healedAt).length === KEYS.length, RECOVERY_MS).catch(
      () => undefined,
    );
    const recovered = keysBegunSince(running, healedAt);
    const ends = await running.stop();
    // It goes on to say all that was found, with what is left.
    await eventually(async () => (await leftovers()).length === 0, RECOVERY_MS).catch(() => undefined);
    const left = await leftovers();

    const findings = [...ends, ...judge(running, { losses }), ...(await counters.findings(COUNTED_KEYS))];
    const writes = await Promise.all(COUNTED_KEYS.map(async (key) => (await counters.writes(key)).length));
    recordFigures('lock-chaos', {
      [name]: {
        seconds: Math.round((healedAt - startedAt) / 1_000),
        disturbances: happened.length,
        processes: running.workers.length,
        wishes: running.settled.length,
        granted: running.settled.filter(({ outcome }) => outcome === 'granted').length,
        writes: writes.reduce((sum, count) => sum + count, 0),
        findings: findings.length,
        longestGapMs: Math.round(longestGap(running.sections, 'one', { from: startedAt, until: healedAt })),
      },
    });
    expect({ happened, findings, recovered, left }).toEqual({ happened, findings: [], recovered: KEYS, left: [] });
    expect(Math.min(...writes)).toBeGreaterThan(0);
  });
});

const KEYS = [...COUNTED_KEYS, 'room'].toSorted();

function keysBegunSince(running: LockFleet, since: number): readonly string[] {
  const begun = running.sections.filter(({ from }) => from > since).flatMap(({ holds }) => holds.map(({ key }) => key));
  return [...new Set(begun)].toSorted();
}
