import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { LockOptionsError, LockStoreError } from '../../../src/lock/index.js';
import { LockPods } from '../../support/lock-pods.js';

describe('LockService, when things go wrong', () => {
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

  it('takes several keys sorted, all or none', async () => {
    const [one, two] = [pods.pod(), pods.pod()];
    const b = await one.acquire('b');
    await expect(two.acquire(['b', 'a', 'b'], { waitMs: 0 })).rejects.toMatchObject({ code: 'lock_busy', key: 'b' });
    expect(await two.list()).toEqual(['b']);
    await b.release();
    const lease = await two.acquire(['b', 'a', 'b']);
    expect(lease.keys).toEqual(['a', 'b']);
    expect(lease.fenceOf('b')).toBeGreaterThan(0);
    expect(await lease.release()).toBe(true);
  });

  it('takes a lock back from its holder and tells it', async () => {
    const [one, two] = [pods.pod(), pods.pod()];
    const lease = await one.acquire('k');
    expect(await two.forceRelease('k')).toBe(1);
    await jest.advanceTimersByTimeAsync(1);
    expect(lease.signal.reason).toMatchObject({ reason: 'revoked' });
    const next = await two.acquire('k', { waitMs: 0 });
    expect(await lease.release()).toBe(false);
    next.assertHeld();
    await next.release();
  });

  it('tells a silent store from a lock that is taken', async () => {
    jest.spyOn(pods.store, 'acquire').mockRejectedValue(new Error('connection refused'));
    const failed = expect(pods.pod().acquire('k', { waitMs: 2_000 })).rejects.toMatchObject({
      code: 'store_unavailable',
      isRetryable: true,
      cause: { message: 'connection refused' },
    });
    await expect(pods.pod().acquire('k', { waitMs: 0 })).rejects.toThrow(LockStoreError);
    await jest.advanceTimersByTimeAsync(2_100);
    await failed;
  });

  it('does not try again what no other try can heal', async () => {
    const acquire = jest.spyOn(pods.store, 'acquire');
    acquire.mockRejectedValue(Object.assign(new Error('WRONGTYPE'), { isRetryable: false }));
    await expect(pods.pod().acquire('k')).rejects.toMatchObject({ code: 'store_unavailable', isRetryable: false });
    expect(acquire).toHaveBeenCalledTimes(1);
  });

  it('undoes a grant that comes after the caller gave up', async () => {
    const pod = pods.pod();
    const { store } = pods;
    const acquire = store.acquire.bind(store);
    jest.spyOn(store, 'acquire').mockImplementation(async (command) => {
      const answer = await acquire(command);
      await new Promise((resolve) => setTimeout(resolve, 5_000));
      return answer;
    });
    const late = expect(pod.acquire('k', { waitMs: 300 })).rejects.toThrow(LockStoreError);
    await jest.advanceTimersByTimeAsync(400);
    await late;
    expect(await pod.list()).toEqual([]);
    await jest.advanceTimersByTimeAsync(10_000);
    expect(await pod.list()).toEqual([]);
  });

  it('subscribes again for those who wait already, where the first try failed', async () => {
    const [holder, waiter] = [pods.pod(), pods.pod()];
    const lease = await holder.acquire('k');
    const subscribe = jest.spyOn(pods.store, 'subscribe');
    subscribe.mockRejectedValueOnce(new Error('no answer')).mockRejectedValueOnce(new Error('no answer'));
    const events: string[] = [];
    const next = waiter.acquire('k').then((one) => (events.push('held'), one));
    await jest.advanceTimersByTimeAsync(900);
    expect(subscribe).toHaveBeenCalledTimes(3);
    const beat = jest.spyOn(pods.store, 'beat');
    await lease.release();
    await jest.advanceTimersByTimeAsync(1);
    expect(events).toEqual(['held']);
    expect(beat).not.toHaveBeenCalled();
    await (await next).release();
  });

  it('subscribes no more for nobody, or once it is closed', async () => {
    const subscribe = jest.spyOn(pods.store, 'subscribe').mockRejectedValue(new Error('no answer'));
    const pod = pods.pod();
    await (await pod.acquire('k')).release();
    await jest.advanceTimersByTimeAsync(2_000);
    expect(subscribe).toHaveBeenCalledTimes(1);
    const lease = await pod.acquire('k');
    const closed = pod.close();
    await lease.release();
    await closed;
    await jest.advanceTimersByTimeAsync(2_000);
    expect(subscribe).toHaveBeenCalledTimes(2);
  });

  it('releases again what the store has not confirmed', async () => {
    const lease = await pods.pod().acquire('k');
    const leave = pods.store.leave.bind(pods.store);
    jest.spyOn(pods.store, 'leave').mockImplementationOnce(async (command) => {
      await leave(command);
      return new Promise(() => undefined);
    });
    const first = lease.release();
    await jest.advanceTimersByTimeAsync(1_000);
    expect(await first).toBe(false);
    await jest.advanceTimersByTimeAsync(400);
    expect(await lease.release()).toBe(true);
  });

  it('names the option that is no good', async () => {
    const pod = pods.pod();
    await expect(pod.acquire('k', { leaseMs: 5 })).rejects.toThrow('leaseMs must be a number of milliseconds from 100');
    await expect(pod.acquire('k', { waitMs: Number.NaN })).rejects.toThrow('waitMs must be');
    await expect(pod.acquire('k', { mode: { permits: 0 } })).rejects.toThrow('permits must be');
    await expect(pod.acquire('k', { minHoldMs: 10, maxHoldMs: 5 })).rejects.toThrow('must not be above maxHoldMs');
    for (const key of ['', ' ', 'order:undefined', 'null', 'a/NaN/b']) {
      await expect(pod.acquire(key)).rejects.toThrow(LockOptionsError);
    }
    await expect(pod.acquire([])).rejects.toThrow('at least one lock key');
    await (await pod.acquire('order:nullable')).release();
  });

  it('counts waits and holds by template, never by key', async () => {
    const seen: string[] = [];
    const pod = pods.pod({
      observer: {
        waiting: (template, change) => seen.push(`${template} waiting ${change}`),
        waited: (template, { outcome }) => seen.push(`${template} ${outcome}`),
        held: (template, { end }) => seen.push(`${template} ${end}`),
      },
    });
    await pod.withLock('order:secret', {}, () => undefined);
    await pod.withLock('alone', { template: 'nightly' }, () => undefined);
    expect(seen).toEqual([
      ...['order:* waiting 1', 'order:* waiting -1', 'order:* granted', 'order:* released'],
      ...['nightly waiting 1', 'nightly waiting -1', 'nightly granted', 'nightly released'],
    ]);
  });
});
