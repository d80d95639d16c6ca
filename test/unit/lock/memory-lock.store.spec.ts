import { describe, expect, it } from '@jest/globals';
import { MemoryLockStore } from '../../../src/lock/memory-lock.store.js';
import { describeLockStore } from '../../contract/lock-store.contract.js';
import { acquire, leave, memoryBench } from '../../support/lock-bench.js';

describeLockStore('MemoryLockStore', () => memoryBench());

describe('MemoryLockStore', () => {
  it('leaves nothing of keys used once, after their fence memory', async () => {
    const { store, clock } = await sizedBench();
    for (let number = 0; number < 100_000; number += 1) {
      const command = { key: `k${number}`, token: `p1-${number}` };
      await acquire(store, command.token, command);
      await store.leave({ ...command, keepMs: 0, tombstoneMs: number % 10 === 0 ? 60_000 : 0 });
      clock.us += 1_000;
    }
    // 60 s of keys, at one a millisecond.
    expect(store.size).toBeLessThan(70_000);
    clock.us += 60_000_000;
    for (let number = 0; number < 100; number += 1) await leave(store, 'p1-none');
    expect(store.size).toBe(0);
  });

  it('clears away what holders left behind that never came back', async () => {
    const { store, clock } = await sizedBench();
    for (let number = 0; number < 1_000; number += 1) {
      await acquire(store, `p1-${number}`, { key: `k${number}`, leaseMs: 1_000 });
    }
    clock.us += 62_000_000;
    for (let number = 0; number < 600; number += 1) await leave(store, 'p1-none');
    expect(store.size).toBe(0);
  });

  it('tells nobody within a call, and nobody who unsubscribed', async () => {
    const { store } = await sizedBench();
    const heard: string[] = [];
    await store.subscribe('p2', (message) => heard.push(message.token));
    await acquire(store, 'p1-1');
    await acquire(store, 'p2-1');
    await acquire(store, 'p2-2');
    const left = leave(store, 'p1-1');
    expect(heard).toEqual([]);
    await left;
    await Promise.resolve();
    expect(heard).toEqual(['p2-1']);
    await store.unsubscribe('p2');
    await leave(store, 'p2-1');
    await new Promise((resolve) => setImmediate(resolve));
    expect(heard).toEqual(['p2-1']);
  });

  it('goes by the clock of the system, in whole microseconds', async () => {
    const before = (performance.timeOrigin + performance.now()) * 1000;
    const answer = await acquire(new MemoryLockStore(), 'p1-1');
    const fence = answer.kind === 'granted' ? answer.fence : 0;
    expect(Number.isSafeInteger(fence)).toBe(true);
    expect(fence).toBeGreaterThanOrEqual(Math.floor(before));
  });
});

async function sizedBench(): Promise<{ store: MemoryLockStore; clock: { us: number } }> {
  const { clock } = await memoryBench();
  return { store: new MemoryLockStore({ clock: () => clock.us }), clock };
}
