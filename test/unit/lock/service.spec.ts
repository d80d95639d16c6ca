import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import {
  type LockBusyError,
  LockLostError,
  LockOptionsError,
  LockTimeoutError,
  MemoryLockStore,
} from '../../../src/lock/index.js';
import { LockPods } from '../../support/lock-pods.js';

describe('LockService', () => {
  let pods: LockPods;
  beforeEach(() => {
    jest.useFakeTimers({ doNotFake: ['queueMicrotask', 'nextTick'] });
    pods = new LockPods();
  });
  afterEach(async () => {
    const closed = pods.close();
    await jest.advanceTimersByTimeAsync(10_000);
    await closed;
    expect(jest.getTimerCount()).toBe(0);
    jest.useRealTimers();
  });

  it('refuses a second holder until the first lets go, and says who has it', async () => {
    const [one, two] = [pods.pod(), pods.pod()];
    const lease = await one.acquire('order:7', { description: 'payment' });
    const busy = await two.acquire('order:7', { waitMs: 0 }).catch((error: unknown) => error);
    expect(busy).toMatchObject({ code: 'lock_busy', key: 'order:7', holder: { description: 'payment' } });
    expect((busy as LockBusyError).retryAfterMs).toBeGreaterThan(0);
    expect(await two.tryAcquire('order:7')).toBeUndefined();
    expect(await lease.release()).toBe(true);
    const next = await two.acquire('order:7', { waitMs: 0 });
    expect(next.fence).toBeGreaterThan(lease.fence);
    await next.release();
  });

  it('gives a lock to who waits in the order in which they came', async () => {
    const lease = await pods.pod().acquire('k');
    const order: number[] = [];
    const waits = [1, 2, 3].map(async (number) => {
      const next = await pods.pod().acquire('k');
      order.push(number);
      await next.release();
    });
    await jest.advanceTimersByTimeAsync(1_000);
    await lease.release();
    await jest.advanceTimersByTimeAsync(100);
    await Promise.all(waits);
    expect(order).toEqual([1, 2, 3]);
  });

  it('ends a wait at its limit, and by its signal with the reason, and leaves no waiter behind', async () => {
    const [one, two] = [pods.pod(), pods.pod()];
    const lease = await one.acquire('k');
    const late = expect(two.acquire('k', { waitMs: 700 })).rejects.toThrow(LockTimeoutError);
    const abort = new AbortController();
    const reason = new Error('the client left');
    const left = expect(two.acquire('k', { signal: abort.signal })).rejects.toBe(reason);
    await jest.advanceTimersByTimeAsync(300);
    abort.abort(reason);
    await left;
    await jest.advanceTimersByTimeAsync(500);
    await late;
    expect((await one.inspect('k'))?.waiters).toEqual([]);
    await lease.release();
    expect(await one.list()).toEqual([]);
    await expect(two.acquire('k', { signal: abort.signal })).rejects.toBe(reason);
  });

  it('keeps a lease by renewals for as long as it is held', async () => {
    const [one, two] = [pods.pod(), pods.pod()];
    const lease = await one.acquire('k', { leaseMs: 1_000 });
    await jest.advanceTimersByTimeAsync(20_000);
    lease.assertHeld();
    expect(lease.remainingMs()).toBeGreaterThan(500);
    expect(await two.tryAcquire('k')).toBeUndefined();
    await lease.release();
    expect(() => {
      lease.assertHeld();
    }).toThrow(LockLostError);
    expect(lease.signal.aborted).toBe(false);
  });

  it('tells a holder at its own deadline when the store is silent, and lets the next one in', async () => {
    const store = new MemoryLockStore();
    const pod = pods.pod();
    const isolated = new LockPods(store).pod();
    const lease = await isolated.acquire('k', { leaseMs: 2_000 });
    jest.spyOn(store, 'beat').mockImplementation(() => new Promise(() => undefined));
    await jest.advanceTimersByTimeAsync(1_900);
    lease.assertHeld();
    await jest.advanceTimersByTimeAsync(100);
    expect(lease.signal.reason).toMatchObject({ code: 'lock_lost', reason: 'expired' });
    expect(await lease.release()).toBe(false);
    const closed = isolated.close();
    await jest.advanceTimersByTimeAsync(5_000);
    await closed;
    expect(await pod.list()).toEqual([]);
  });

  it('knows by the clock that it was lost while the process was blocked', async () => {
    const lease = await pods.pod().acquire('k', { leaseMs: 2_000 });
    jest.setSystemTime(Date.now() + 5_000);
    expect(() => {
      lease.assertHeld();
    }).toThrow(LockLostError);
    expect(await lease.release()).toBe(false);
  });

  it('loses what is held for longer than it may be', async () => {
    const [one, two] = [pods.pod(), pods.pod()];
    const hung = one.withLock(
      'k',
      { maxHoldMs: 1_000, leaseMs: 500 },
      ({ signal }) =>
        new Promise((_, reject) => {
          signal.addEventListener('abort', () => {
            reject(signal.reason as Error);
          });
        }),
    );
    const told = expect(hung).rejects.toMatchObject({ code: 'lock_lost', reason: 'max_hold' });
    const next = two.acquire('k');
    await jest.advanceTimersByTimeAsync(1_500);
    await told;
    await (await next).release();
  });

  it('keeps a lock for its least time after a short job', async () => {
    const [one, two] = [pods.pod(), pods.pod()];
    await one.withLock('cron', { minHoldMs: 5_000 }, () => 'done');
    expect(await two.tryAcquire('cron')).toBeUndefined();
    await jest.advanceTimersByTimeAsync(5_100);
    const next = await two.acquire('cron', { waitMs: 0 });
    await next.release();
  });

  it('extends a lease, and never shortens it', async () => {
    const lease = await pods.pod().acquire('k', { leaseMs: 1_000 });
    await lease.extend(60_000);
    expect(lease.remainingMs()).toBeGreaterThan(55_000);
    await lease.extend(10);
    expect(lease.remainingMs()).toBeGreaterThan(55_000);
    await expect(lease.extend(Number.NaN)).rejects.toThrow(LockOptionsError);
    await lease.release();
    await expect(lease.extend(100)).rejects.toMatchObject({ code: 'lock_lost', reason: 'released' });
  });

  it('lets sharers in together, and an exclusive holder only alone', async () => {
    const pod = pods.pod();
    const readers = await Promise.all([
      pod.acquire('k', { mode: 'shared' }),
      pods.pod().acquire('k', { mode: 'shared' }),
    ]);
    expect(await pods.pod().tryAcquire('k')).toBeUndefined();
    const writer = pods.pod().acquire('k');
    await jest.advanceTimersByTimeAsync(10);
    // A reader that comes after the writer does not pass it.
    expect(await pod.tryAcquire('k', { mode: 'shared' })).toBeUndefined();
    for (const reader of readers) await reader.release();
    await jest.advanceTimersByTimeAsync(10);
    await (await writer).release();
  });

  it('gives out no more permits than there are', async () => {
    const mode = { permits: 2 };
    const [one, two] = [await pods.pod().acquire('k', { mode }), await pods.pod().acquire('k', { mode })];
    expect(await pods.pod().tryAcquire('k', { mode })).toBeUndefined();
    await one.release();
    const three = await pods.pod().acquire('k', { mode, waitMs: 0 });
    await Promise.all([two.release(), three.release()]);
  });
});
