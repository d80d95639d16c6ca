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

jest.setTimeout(sized(90_000, 600_000));

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

/** A run's chance; the same seed asks for the same disturbances. */
function seedOf(): number {
  return Number(process.env['CHAOS_SEED'] ?? Date.now() % 1_000_000);
}

async function nothingLeft(): Promise<boolean> {
  const names = await ask(server, (redis) => redis.keys(`${PREFIX}lk:*`));
  return names.every((name) => !/:[eqa]$/.test(name));
}

describe('locks of four processes on one Redis', () => {
  it.each([
    ['that keeps its data', false],
    ['that loses its data now and then', true],
  ])('hold through chaos, %s', async (name, losesData) => {
    const seed = seedOf();
    const random = new SeededRandom(seed);
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
      durationMs: sized(losesData ? 3_000 : 5_000, 60_000),
      pauseMs: 500,
    });
    proxy.clear();
    const healedAt = monotonicNow();
    await eventually(() => keysBegunSince(running, healedAt).length === KEYS.length, RECOVERY_MS).catch(
      () => undefined,
    );
    const recovered = keysBegunSince(running, healedAt);
    const ends = await running.stop();
    await eventually(nothingLeft, RECOVERY_MS);

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
    expect({ seed, happened, findings, recovered }).toEqual({ seed, happened, findings: [], recovered: KEYS });
    expect(Math.min(...writes)).toBeGreaterThan(0);
  });

  it('are all served while scripts are flushed ten times a second', async () => {
    const flush: Disturbance = {
      name: 'SCRIPT FLUSH',
      target: 'redis',
      weight: 1,
      happen: async () => {
        await ask(server, (redis) => redis.script('FLUSH'));
        await new Promise((resolve) => setTimeout(resolve, 100));
      },
    };
    const running = await startFleet(CHAOS_LOADS.map((load) => ({ ...load, waitMs: 30_000, holdMs: [1, 20] })));
    const happened = await disturb([flush], new SeededRandom(1), { durationMs: sized(1_500, 10_000), pauseMs: 10 });
    const ends = await running.stop();
    expect([...ends, ...judge(running), ...(await counters.findings(COUNTED_KEYS))]).toEqual([]);
    expect(new Set(running.settled.map(({ outcome }) => outcome))).toEqual(new Set(['granted']));
    expect(happened.length).toBeGreaterThan(5);
    await eventually(nothingLeft, RECOVERY_MS);
  });
});

const KEYS = [...COUNTED_KEYS, 'room'].toSorted();

function keysBegunSince(running: LockFleet, since: number): readonly string[] {
  const begun = running.sections.filter(({ from }) => from > since).flatMap(({ holds }) => holds.map(({ key }) => key));
  return [...new Set(begun)].toSorted();
}
