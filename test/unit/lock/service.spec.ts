import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { LockOptionsError } from '../../../src/lock/index.js';
import { LockPods } from '../../support/lock-pods.js';

/** What test/contract/ does not ask of it. */
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

  it('runs work under a lock without a word about options', async () => {
    const pod = pods.pod();
    expect(await pod.withLock('k', ({ key }) => `under ${key}`)).toBe('under k');
    expect(await pod.withLock(['b', 'a'], (lease) => lease.keys)).toEqual(['a', 'b']);
  });

  it('goes by the options of the outermost where a chain of calls takes a key again', async () => {
    const pod = pods.pod();
    const outer = { description: 'outer', leaseMs: 5_000 };
    await pod.withLock('k', outer, () =>
      pod.withLock('k', { description: 'inner', leaseMs: 60_000, maxHoldMs: 1 }, async (lease) => {
        await jest.advanceTimersByTimeAsync(50);
        lease.assertHeld();
        expect(lease.remainingMs()).toBeLessThanOrEqual(5_000);
        expect((await pod.inspect('k'))?.holders).toMatchObject([{ description: 'outer' }]);
      }),
    );
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
      ...['* waiting 1', '* waiting -1', '* granted', '* released'],
      ...['nightly waiting 1', 'nightly waiting -1', 'nightly granted', 'nightly released'],
    ]);
  });
});
