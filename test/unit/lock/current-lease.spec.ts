import { AsyncResource } from 'node:async_hooks';
import { describe, expect, it } from '@jest/globals';
import { currentLease, LockService, MemoryLockStore } from '../../../src/lock/index.js';

describe('the chain of calls inside a lease', () => {
  it('costs nothing once the last one is released', async () => {
    const locks = new LockService(new MemoryLockStore());
    const marks = marksOfContext();
    let leftBehind: Promise<unknown> | undefined;
    await locks.withLock('once', () => {
      leftBehind = new Promise((resolve) => setTimeout(resolve, 5)).then(currentLease);
    });
    expect(marksOfContext()).toEqual(marks);
    expect(await leftBehind).toBeUndefined();
    await locks.withLock('twice', async (lease) => {
      await Promise.resolve();
      expect(currentLease()).toBe(lease);
    });
    expect(marksOfContext()).toEqual(marks);
  });

  it('is followed while one is held, also by what began before another one ended', async () => {
    const locks = new LockService(new MemoryLockStore());
    const outer = await locks.withLock('outer', async (lease) => {
      await locks.withLock('inner', () => undefined);
      await Promise.resolve();
      return currentLease() === lease;
    });
    expect(outer).toBe(true);
  });
});

/** What Node writes on everything asynchronous while it follows contexts by hooks; the test runner's own is among it. */
function marksOfContext(): readonly symbol[] {
  return Object.getOwnPropertySymbols(new AsyncResource('probe')).filter(
    ({ description }) => description === 'kResourceStore',
  );
}
