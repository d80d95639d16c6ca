import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { nodeEnvironment } from '../../../src/store/process/node.environment.js';
import { LockLostError } from '../../../src/lock/index.js';
import { LockPods } from '../../support/lock-pods.js';

describe('LockService, whatever is around it', () => {
  let pods: LockPods;
  const warnings: string[] = [];
  beforeEach(() => {
    jest.useFakeTimers({ doNotFake: ['queueMicrotask', 'nextTick'] });
    pods = new LockPods();
    warnings.length = 0;
    jest.spyOn(process, 'emitWarning').mockImplementation((warning) => {
      warnings.push(String(warning));
    });
  });
  afterEach(async () => {
    const closed = pods.close();
    await jest.advanceTimersByTimeAsync(10_000);
    await closed;
    jest.restoreAllMocks();
    jest.useRealTimers();
  });

  it.each(['max_hold', 'expired'] as const)('never gets back a lease that was seen to be over: %s', async (reason) => {
    let aheadMs = 0;
    const environment = nodeEnvironment();
    const pod = pods.pod({ environment: { ...environment, now: () => environment.now() + aheadMs } });
    const lease = await pod.acquire('k', { leaseMs: 2_000, ...(reason === 'max_hold' && { maxHoldMs: 1_500 }) });
    const { signal } = lease;
    aheadMs = 2_100;
    expect(() => {
      lease.assertHeld();
    }).toThrow(expect.objectContaining({ name: 'LockLostError', reason }));
    expect([signal.aborted, lease.isHeld, lease.remainingMs()]).toEqual([true, false, 0]);
    await jest.advanceTimersByTimeAsync(1_000);
    aheadMs = 0;
    expect([lease.isHeld, lease.remainingMs(), await lease.release()]).toEqual([false, 0, false]);
    expect(await pods.store.inspect('k')).toBeUndefined();
  });

  it('tells the work that is over of a loss that only isHeld has seen', async () => {
    let aheadMs = 0;
    const environment = nodeEnvironment();
    const pod = pods.pod({ environment: { ...environment, now: () => environment.now() + aheadMs } });
    const outcome = pod.withLock('k', { leaseMs: 2_000 }, (lease) => {
      aheadMs = 2_100;
      return lease.isHeld;
    });
    await expect(outcome).rejects.toBeInstanceOf(LockLostError);
    await expect(outcome).rejects.toMatchObject({ reason: 'expired', result: false });
  });

  it('grants, loses and releases although its observer fails, and says so once', async () => {
    const fail = (): never => {
      throw new Error('no metrics today');
    };
    const pod = pods.pod({ observer: { waiting: fail, waited: fail, held: fail } });
    expect(await pod.withLock('k', {}, () => 'done')).toBe('done');
    const lease = await pod.acquire('k');
    expect(await pod.tryAcquire('k')).toBeUndefined();
    expect(await lease.release()).toBe(true);
    expect(warnings).toEqual([expect.stringContaining('no metrics today')]);
  });

  it('listens to a signal once, however many wait with it, and not at all afterwards', async () => {
    const [holder, pod] = [pods.pod(), pods.pod()];
    const lease = await holder.acquire('k');
    const leaving = new AbortController();
    const added = jest.spyOn(leaving.signal, 'addEventListener');
    const removed = jest.spyOn(leaving.signal, 'removeEventListener');
    const wish = { signal: leaving.signal, waitMs: 60_000 };
    const outcomes = Array.from({ length: 30 }, () => pod.acquire('k', wish).catch((error: unknown) => error));
    await jest.advanceTimersByTimeAsync(10);
    expect(added).toHaveBeenCalledTimes(1);
    await lease.release();
    await jest.advanceTimersByTimeAsync(10);
    leaving.abort('enough');
    const [first, ...others] = await Promise.all(outcomes);
    expect(first).toMatchObject({ key: 'k', isHeld: true });
    expect(others).toEqual(Array.from({ length: 29 }, () => 'enough'));
    expect(removed).toHaveBeenCalledTimes(1);
    await pod.forceRelease('k');
  });
});
