import { expect, it } from '@jest/globals';
import { LockOptionsError } from '../../src/lock/index.js';
import { eventually } from '../support/eventually.js';
import { type LockWorld, told } from '../support/lock-world.js';

/** What can be done with a lease: look at it, extend it, let it go, take it away. */
export function describeLease(world: () => LockWorld): void {
  it('says what it is, while it is held and after', async () => {
    const [pod] = await world().pods(1);
    const lease = await pod.acquire(['b', 'a', 'b'], { leaseMs: 5_000, description: 'nightly' });
    expect(lease).toMatchObject({ key: 'a', keys: ['a', 'b'], isHeld: true, isReleased: false });
    expect(lease.remainingMs()).toBeGreaterThan(3_000);
    const [holder] = await world().holders('a');
    expect(holder).toMatchObject({ token: lease.token, fence: lease.fence, description: 'nightly', state: 'held' });
    expect(lease.fenceOf('b')).toBe((await world().holders('b'))[0]?.fence);
    expect(() => lease.fenceOf('c')).toThrow(LockOptionsError);
    expect(await lease.release()).toBe(true);
    expect(await lease.release()).toBe(true);
    expect(lease).toMatchObject({ isHeld: false, isReleased: true });
    expect([lease.remainingMs(), lease.signal.aborted]).toEqual([0, false]);
    expect(() => {
      lease.assertHeld();
    }).toThrow('released before');
  });

  it('ends with its block', async () => {
    const [pod] = await world().pods(1);
    {
      await using lease = await pod.acquire('k');
      expect(lease.isHeld).toBe(true);
      expect(await world().busy()).toEqual(['k']);
    }
    expect(await world().busy()).toEqual([]);
  });

  it('is extended in the store too, and never shortened', async () => {
    const [pod] = await world().pods(1);
    const lease = await pod.acquire('k', { leaseMs: 2_000 });
    await lease.extend(60_000);
    expect(lease.remainingMs()).toBeGreaterThan(50_000);
    expect((await world().holders('k'))[0]?.leaseLeftMs).toBeGreaterThan(50_000);
    await lease.extend(1_000);
    expect(lease.remainingMs()).toBeGreaterThan(50_000);
    await expect(lease.extend(0)).rejects.toBeInstanceOf(LockOptionsError);
    await lease.release();
    await expect(lease.extend(1_000)).rejects.toMatchObject({ code: 'lock_lost', reason: 'released' });
  });

  it('is not extended beyond the longest hold, and says so when the store has it no more', async () => {
    const [pod] = await world().pods(1);
    const lease = await pod.acquire('k', { leaseMs: 2_000, maxHoldMs: 4_000 });
    await lease.extend(60_000);
    expect(lease.remainingMs()).toBeLessThanOrEqual(4_000);
    await lease.release();
    const { locks, wire } = await world().pod();
    wire.hears = 'nothing';
    const taken = await locks.acquire('l');
    await world().store.revoke({ key: 'l', token: taken.token, mode: 'now' });
    await expect(taken.extend(60_000)).rejects.toMatchObject({ code: 'lock_lost', reason: 'gone' });
  });

  it('tells an extension that was not answered from a lease that is lost', async () => {
    const { locks, wire } = await world().pod();
    const lease = await locks.acquire('k');
    wire.next('beat', { fails: new Error('reset') });
    await expect(lease.extend(60_000)).rejects.toMatchObject({ code: 'store_unavailable', isRetryable: true });
    lease.assertHeld();
    // It goes with the next renewal.
    await eventually(() => lease.remainingMs() > 50_000);
    await lease.release();
  });

  it('stays taken for its least time after short work, and no longer', async () => {
    const [one, two] = await world().pods(2);
    const startedAt = performance.now();
    await one.withLock('cron', { minHoldMs: 800 }, () => 'done');
    expect(await two.tryAcquire('cron')).toBeUndefined();
    expect(await world().holders('cron')).toMatchObject([{ state: 'released' }]);
    const next = await two.acquire('cron');
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(790);
    await next.release();
  });

  it('is drained by an operator: its holder is told and lets go, and the next one has it', async () => {
    const [one, two, operator] = await world().pods(3);
    const lease = await one.acquire('k');
    const waiting = two.acquire('k');
    await world().queued('k', 1);
    expect(await operator.forceRelease('k')).toBe(1);
    const next = await waiting;
    await told(lease);
    expect(lease.signal.reason).toMatchObject({ reason: 'revoked' });
    expect(next.fence).toBeGreaterThan(lease.fence);
    expect(await lease.release()).toBe(false);
    next.assertHeld();
    await next.release();
  });

  it('is drained without anybody beside a holder that hears nothing', async () => {
    const [one, two] = [await world().pod(), await world().pod()];
    one.wire.hears = 'nothing';
    const lease = await one.locks.acquire('k', { leaseMs: 1_200 });
    const waiting = two.locks.acquire('k');
    await world().queued('k', 1);
    expect(await two.locks.forceRelease('k', { mode: 'drain' })).toBe(1);
    lease.assertHeld();
    const next = await waiting;
    expect(lease.isHeld).toBe(false);
    expect(lease.signal.reason).toMatchObject({ reason: 'revoked' });
    await next.release();
  });

  it('is taken at once where the operator says so: beside a holder that has not heard, but with a larger fence', async () => {
    const [one, two] = [await world().pod(), await world().pod()];
    one.wire.hears = 'nothing';
    const lease = await one.locks.acquire('k', { leaseMs: 3_000 });
    const waiting = two.locks.acquire('k');
    await world().queued('k', 1);
    expect(await two.locks.forceRelease('k', { mode: 'now' })).toBe(1);
    const next = await waiting;
    expect(next.fence).toBeGreaterThan(lease.fence);
    await told(lease);
    expect(lease.signal.reason).toMatchObject({ reason: 'gone' });
    expect(await two.locks.forceRelease('free')).toBe(0);
    await next.release();
  });

  it('is taken from one holder of several', async () => {
    const [one, two] = await world().pods(2);
    const mode = { permits: 2 };
    const [first, second] = [await one.acquire('k', { mode }), await two.acquire('k', { mode })];
    expect(await one.forceRelease('k', { token: second.token })).toBe(1);
    await told(second);
    first.assertHeld();
    expect(await world().holders('k')).toMatchObject([{ token: first.token }]);
    await first.release();
  });
}
