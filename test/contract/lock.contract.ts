import { describe } from '@jest/globals';
import { type LockGround, worldPerTest } from '../support/lock-world.js';
import { describeAcquiring } from './lock.acquiring.js';
import { describeHolding } from './lock.holding.js';
import { describeLease } from './lock.lease.js';
import { describeModes } from './lock.modes.js';
import { describeNaming } from './lock.naming.js';
import { describeReleasing } from './lock.releasing.js';
import { describeWaiting } from './lock.waiting.js';

/**
 * What LockService, Lease and the store behind them promise, on whatever ground they stand. A name that begins with a letter and a
 * number is a case that went wrong elsewhere; see the file's head for the group.
 */
export function describeLocks(name: string, ground: () => LockGround): void {
  describe(`locks on ${name}`, () => {
    const world = worldPerTest(ground);
    describe('holding', () => {
      describeHolding(world);
    });
    describe('acquiring', () => {
      describeAcquiring(world);
    });
    describe('waiting', () => {
      describeWaiting(world);
    });
    describe('releasing', () => {
      describeReleasing(world);
    });
    describe('modes', () => {
      describeModes(world);
    });
    describe('names', () => {
      describeNaming(world);
    });
    describe('a lease', () => {
      describeLease(world);
    });
  });
}
