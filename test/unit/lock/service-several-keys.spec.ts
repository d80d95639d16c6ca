import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { type LockOptions, LockLostError, LockTimeoutError } from '../../../src/lock/index.js';
import { LockPods } from '../../support/lock-pods.js';

describe('LockService, several keys of which not all come', () => {
  let pods: LockPods;
  beforeEach(() => {
    jest.useFakeTimers({ doNotFake: ['queueMicrotask', 'nextTick'] });
    pods = new LockPods();
  });
  afterEach(async () => {
    const closed = pods.close();
    await jest.advanceTimersByTimeAsync(10_000);
    await closed;
    jest.useRealTimers();
  });

  const busy = async (): Promise<readonly string[]> => (await pods.store.list(10)).map(({ key }) => key);

  it.each<readonly [string, LockOptions]>([
    ['is busy', { waitMs: 0 }],
    ['does not come in time', { waitMs: 500 }],
    ['is given up by a signal', { signal: AbortSignal.abort('later') }],
  ])('frees the earlier keys at once, whatever their minimum hold, where a later one %s', async (_, options) => {
    const [holder, other] = [pods.pod(), pods.pod()];
    const lease = await holder.acquire('b');
    const leaving = new AbortController();
    const given = { ...options, ...('signal' in options && { signal: leaving.signal }), minHoldMs: 60_000 };
    const outcome = other.acquire(['a', 'b'], given).catch((error: unknown) => error);
    await jest.advanceTimersByTimeAsync(100);
    leaving.abort('later');
    await jest.advanceTimersByTimeAsync(600);
    expect(await outcome).not.toHaveProperty('key', 'a');
    expect(await busy()).toEqual(['b']);
    await lease.release();
  });

  it('frees the earlier keys at once where one of them is lost', async () => {
    const [holder, other] = [pods.pod(), pods.pod()];
    const lease = await holder.acquire('c');
    const outcome = other.acquire(['a', 'b', 'c'], { minHoldMs: 60_000 }).catch((error: unknown) => error);
    await jest.advanceTimersByTimeAsync(100);
    await holder.forceRelease('a');
    await jest.advanceTimersByTimeAsync(100);
    expect(await outcome).toBeInstanceOf(LockLostError);
    expect(await busy()).toEqual(['c']);
    await lease.release();
  });

  it('keeps the minimum hold of what the chain of calls holds already', async () => {
    const [holder, pod] = [pods.pod(), pods.pod()];
    const lease = await holder.acquire('b');
    await pod.withLock('a', { minHoldMs: 60_000 }, () => pod.tryAcquire(['a', 'b']));
    expect(await pods.store.inspect('a')).toMatchObject({ holders: [{ state: 'released' }] });
    await lease.release();
  });

  it('says that the time is over, not that the store is silent, where the first key used it up', async () => {
    const [holder, other] = [pods.pod(), pods.pod()];
    const lease = await holder.acquire('a');
    const acquire = pods.store.acquire.bind(pods.store);
    jest.spyOn(pods.store, 'acquire').mockImplementation(async (command) => {
      if (command.key === 'b') await new Promise((resolve) => setTimeout(resolve, 20));
      return acquire(command);
    });
    const outcome = other.acquire(['a', 'b'], { waitMs: 300 }).catch((error: unknown) => error);
    await jest.advanceTimersByTimeAsync(290);
    await lease.release();
    await jest.advanceTimersByTimeAsync(100);
    expect(await outcome).toBeInstanceOf(LockTimeoutError);
    expect(await busy()).toEqual([]);
  });

  it('says that the store is silent where a later key has time left and no answer comes', async () => {
    const pod = pods.pod();
    const acquire = pods.store.acquire.bind(pods.store);
    jest
      .spyOn(pods.store, 'acquire')
      .mockImplementation((command) => (command.key === 'b' ? new Promise(() => undefined) : acquire(command)));
    const outcome = pod.acquire(['a', 'b'], { waitMs: 300 }).catch((error: unknown) => error);
    await jest.advanceTimersByTimeAsync(400);
    expect(await outcome).toMatchObject({ code: 'store_unavailable' });
  });
});
