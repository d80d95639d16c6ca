import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { currentLease, LockClosedError, LockLostError } from '../../../src/lock/index.js';
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

  describe('.withLock()', () => {
    it("gives the work's result, or its own error unwrapped, and releases either way", async () => {
      const pod = pods.pod();
      expect(await pod.withLock('k', {}, (lease) => lease.key)).toBe('k');
      const error = new Error('the work failed');
      const failing = (): never => {
        throw error;
      };
      await expect(pod.withLock('k', {}, failing)).rejects.toBe(error);
      expect(await pod.list()).toEqual([]);
    });

    it('rejects with the result when the lock was lost although the work finished', async () => {
      const pod = pods.pod();
      const work = async (): Promise<string> => {
        await pods.store.revoke({ key: 'k', token: undefined, mode: 'now' });
        return 'paid';
      };
      await expect(pod.withLock('k', {}, work)).rejects.toMatchObject({ code: 'lock_lost', result: 'paid' });
    });

    it('is reentrant along the chain, and released with the outermost', async () => {
      const [pod, other] = [pods.pod(), pods.pod()];
      await pod.withLock('k', {}, async (outer) => {
        await pod.withLock(['k', 'l'], { mode: 'shared' }, (inner) => {
          expect(inner.fenceOf('k')).toBe(outer.fence);
          expect(currentLease()).toBe(inner);
        });
        expect(currentLease()).toBe(outer);
        outer.assertHeld();
        expect(await other.tryAcquire('k')).toBeUndefined();
      });
      expect(currentLease()).toBeUndefined();
      expect(await pod.list()).toEqual([]);
    });

    it('does not let a chain take more than it holds', async () => {
      const pod = pods.pod();
      const upgrade = pod.withLock('k', { mode: 'shared' }, () => pod.withLock('k', {}, () => undefined));
      await expect(upgrade).rejects.toThrow('held as shared');
    });

    it('gives detached work no part in a lease that ended', async () => {
      const [pod, other] = [pods.pod(), pods.pod()];
      let detached: Promise<unknown> = Promise.resolve();
      await pod.withLock('k', {}, () => {
        detached = new Promise((resolve) => setTimeout(resolve, 100)).then(async () => {
          expect(currentLease()).toBeUndefined();
          return pod.tryAcquire('k');
        });
      });
      const lease = await other.acquire('k');
      await jest.advanceTimersByTimeAsync(200);
      expect(await detached).toBeUndefined();
      await lease.release();
    });
  });

  describe('.close()', () => {
    it('refuses new locks, rejects waiters, lets holders finish, and leaves nothing', async () => {
      const pod = pods.pod({ graceMs: 5_000 });
      const finished = pod.withLock('k', {}, async () => {
        await new Promise((resolve) => setTimeout(resolve, 2_000));
        return 'done';
      });
      const rejected = expect(pod.acquire('k')).rejects.toThrow(LockClosedError);
      await jest.advanceTimersByTimeAsync(10);
      const closed = pod.close();
      await rejected;
      await expect(pod.acquire('other')).rejects.toMatchObject({ code: 'draining' });
      await jest.advanceTimersByTimeAsync(2_100);
      expect(await finished).toBe('done');
      await closed;
      expect(await pods.store.list(10)).toEqual([]);
      expect(jest.getTimerCount()).toBe(0);
    });

    it('aborts who is not done within the grace, and takes the lock from who ignores it', async () => {
      const pod = pods.pod({ graceMs: 1_000 });
      const polite = await pod.acquire('polite');
      polite.signal.addEventListener('abort', () => void polite.release());
      const stubborn = await pod.acquire('stubborn');
      const closed = pod.close();
      await jest.advanceTimersByTimeAsync(1_050);
      expect(polite.signal.reason).toMatchObject({ reason: 'closing' });
      expect(await pods.store.list(10)).toEqual(['stubborn']);
      stubborn.assertHeld();
      await jest.advanceTimersByTimeAsync(500);
      expect(await pods.store.list(10)).toEqual([]);
      await closed;
      expect(() => {
        stubborn.assertHeld();
      }).toThrow(LockLostError);
      expect(await stubborn.release()).toBe(false);
      expect(jest.getTimerCount()).toBe(0);
    });
  });
});
