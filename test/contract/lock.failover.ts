import { afterEach, beforeEach, expect, it } from '@jest/globals';
import type { LockService } from '../../src/lock/index.js';
import { lockKeys } from '../../src/lock/lock.keys.js';
import type { RedisGround } from '../support/lock-grounds.js';
import { LockWorld } from '../support/lock-world.js';
import { sized } from '../support/proof-scale.js';

/** What a caller may be told while Redis fails over; anything else is a fault. */
const TOLD = new Set(['LockLostError', 'LockStoreError', 'LockTimeoutError']);
const PREFIX = 'failover:';
const TIMEOUT_MS = sized(120_000, 600_000);

/** Planned failovers, under load. Rows B7 and D9. */
export function describeFailover(ground: () => RedisGround): void {
  let world: LockWorld;
  beforeEach(async () => {
    const { redis } = ground();
    expect(redis.servers.length).toBeGreaterThan(1);
    world = await LockWorld.watched(ground().fleetUnder(PREFIX), ground().fleetUnder(PREFIX));
  });
  afterEach(() => world.close());

  it(
    'B7 and D9: goes on by itself with fences that rise, and tells who lost what',
    async () => {
      const pods = await world.pods(3);
      for (let failover = 0; failover < sized(1, 5); failover += 1) {
        const before = await sections(pods, 30);
        let isOver = false;
        const during = Promise.all(pods.map((pod) => visitUntil(pod, () => isOver)));
        await ground().redis.failOver(lockKeys(PREFIX, 'k')[0]);
        isOver = true;
        const outcomes = (await during).flat();
        expect(outcomes.filter((outcome) => typeof outcome === 'string' && !TOLD.has(outcome))).toEqual([]);
        const after = await sections(pods, 30);
        const fences = outcomes.filter((outcome) => typeof outcome === 'number');
        expect(new Set([...before, ...fences, ...after]).size).toBe(before.length + fences.length + after.length);
        expect(Math.min(...after)).toBeGreaterThan(Math.max(...before));
        expect(after).toEqual(after.toSorted((one, other) => one - other));
      }
    },
    TIMEOUT_MS,
  );
}

/** Fences in the order of the sections; the first may have to wait for the new master. */
async function sections(pods: readonly LockService[], count: number): Promise<readonly number[]> {
  const fences: number[] = [];
  const [first, ...rest] = Array.from({ length: count }, (_, index) => pods[index % pods.length]);
  await first?.withLock('k', { waitMs: 60_000 }, ({ fence }) => fences.push(fence));
  await Promise.all(rest.map(async (pod) => pod?.withLock('k', { waitMs: 60_000 }, ({ fence }) => fences.push(fence))));
  return fences;
}

/** Fences, or the names of errors. */
async function visitUntil(pod: LockService, isOver: () => boolean): Promise<readonly (number | string)[]> {
  const outcomes: (number | string)[] = [];
  while (!isOver()) {
    const outcome = await pod
      .withLock('k', { waitMs: 30_000, leaseMs: 5_000 }, ({ fence }) => fence)
      .catch((error: unknown) => (error instanceof Error ? error.name : 'no error'));
    outcomes.push(outcome);
  }
  return outcomes;
}
