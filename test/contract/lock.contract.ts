import { describe } from '@jest/globals';
import { scenePerTest } from '../support/fault-scene.js';
import type { RedisGround } from '../support/lock-grounds.js';
import { type LockGround, type LockWorld, worldPerTest } from '../support/lock-world.js';
import { describeAcquiring } from './lock.acquiring.js';
import { describeDecorated } from './lock.decorated.js';
import { describeFailover } from './lock.failover.js';
import { describeLockFaults } from './lock.faults.js';
import { describeHolding } from './lock.holding.js';
import { describeLease } from './lock.lease.js';
import { describeModes } from './lock.modes.js';
import { describeNaming } from './lock.naming.js';
import { describePrefixes } from './lock.prefixes.js';
import { describeLocksInRedis } from './lock.redis.js';
import { describeReleasing } from './lock.releasing.js';
import { describeWaiting } from './lock.waiting.js';

const GROUPS = {
  holding: describeHolding,
  acquiring: describeAcquiring,
  waiting: describeWaiting,
  releasing: describeReleasing,
  modes: describeModes,
  names: describeNaming,
  'a lease': describeLease,
  '@WithLock()': describeDecorated,
} satisfies Readonly<Record<string, (world: () => LockWorld) => void>>;

export type LockGroup = keyof typeof GROUPS;

/** What the names of keys and channels bear on. */
export const NAMED_GROUPS: readonly LockGroup[] = ['waiting', 'modes', 'names', 'a lease'];

/** What is the same whatever the names are. */
export const UNNAMED_GROUPS: readonly LockGroup[] = ['holding', 'acquiring', 'releasing', '@WithLock()'];

/** What the ways to run Redis bear on: slots, and the way of messages. */
export const ROUTED_GROUPS: readonly LockGroup[] = ['names', 'modes'];

export const ALL_GROUPS: readonly LockGroup[] = [...NAMED_GROUPS, ...UNNAMED_GROUPS];

/**
 * What LockService, Lease, @WithLock() and the store behind them promise, on whatever ground they stand. A test whose name begins
 * with a letter and a number is a failure that was seen in other libraries: A holding and losing, B acquiring, C and F waiting,
 * D releasing, shutdown and failover.
 */
export function describeLocks(name: string, ground: () => LockGround, groups: readonly LockGroup[] = ALL_GROUPS): void {
  describe(`locks on ${name}`, () => {
    const world = worldPerTest(ground);
    for (const group of groups) {
      describe(group, () => {
        GROUPS[group](world);
      });
    }
  });
}

/** The same while Redis fails. */
export function describeLocksUnderFaults(name: string, ground: () => RedisGround): void {
  describe(`locks on ${name} that fails`, () => {
    describeLockFaults(scenePerTest(ground));
  });
}

/** What they leave in Redis and cost it, and several applications on one. */
export function describeLocksWithin(name: string, ground: () => RedisGround): void {
  describe(`locks within ${name}`, () => {
    describeLocksInRedis(scenePerTest(ground));
  });
  describe(`locks of several applications within ${name}`, () => {
    describePrefixes(ground);
  });
}

/** Where there are replicas. */
export function describeLocksThroughFailover(name: string, ground: () => RedisGround): void {
  describe(`locks on ${name} that fails over`, () => {
    describeFailover(ground);
  });
}
