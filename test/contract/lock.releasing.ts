import { expect, it } from '@jest/globals';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { LockClosedError, LockService } from '../../src/lock/index.js';
import { recordFigures } from '../support/figures.js';
import { type LockWorld, told } from '../support/lock-world.js';
import { pass } from '../support/pass.js';
import { sized } from '../support/proof-scale.js';

/** What is left after a lock is let go, lost, or its process ends. Rows D of the cases, and invariants 5 and 7. */
export function describeReleasing(world: () => LockWorld): void {
  it('D1: leaves the lock of a successor alone', async () => {
    const [one, two] = [await world().pod(), await world().pod()];
    const late = await one.locks.acquire('k', { leaseMs: 500 });
    one.wire.always('unsent', 'beat');
    const next = await two.locks.acquire('k');
    one.wire.heal();
    expect(await late.release()).toBe(false);
    await pass(100);
    next.assertHeld();
    expect(await world().holders('k')).toMatchObject([{ token: next.token }]);
    expect(await next.release()).toBe(true);
  });

  it('D2: releases again what was not answered, and says so', async () => {
    const { locks, wire } = await world().pod();
    const lost = await locks.acquire('lost');
    wire.next('leave', 'lost');
    expect(await lost.release()).toBe(false);
    expect(await lost.release()).toBe(true);
    const unsent = await locks.acquire('unsent');
    wire.always({ fails: new Error('reset') }, 'leave');
    expect(await unsent.release()).toBe(false);
    expect(unsent.isHeld).toBe(false);
    expect(await world().busy()).toEqual(['unsent']);
    wire.heal();
    // It is told by itself until the store has heard, asked for or not.
    await world().empty();
    expect(await unsent.release()).toBe(true);
  });

  it('D3: answers false for the release of a lease that is over, as often as it is asked, and never throws', async () => {
    const { locks, wire } = await world().pod();
    wire.always('unsent', 'beat');
    const lease = await locks.acquire('k', { leaseMs: 300 });
    await told(lease);
    expect([await lease.release(), await lease.release(), await lease.release()]).toEqual([false, false, false]);
    await expect(lease[Symbol.asyncDispose]()).resolves.toBeUndefined();
  });

  it('D5: rejects with the result when the lock was lost although the work finished', async () => {
    const { locks, wire } = await world().pod();
    wire.hears = 'nothing';
    const job = locks.withLock('k', { leaseMs: 600 }, async (lease) => {
      await world().store.revoke({ key: 'k', token: lease.token, mode: 'now' });
      await told(lease);
      return 'paid';
    });
    await expect(job).rejects.toMatchObject({ code: 'lock_lost', key: 'k', reason: 'gone', result: 'paid' });
    const unnoticed = locks.withLock('k', {}, async (lease) => {
      await world().store.revoke({ key: 'k', token: lease.token, mode: 'now' });
      return 'paid';
    });
    await expect(unnoticed).rejects.toMatchObject({ code: 'lock_lost', reason: 'gone', result: 'paid' });
  });

  it("invariant 9: passes the work's own error on unwrapped, whatever became of the lock", async () => {
    const [pod] = await world().pods(1);
    const error = new RangeError('the work failed');
    const failing = (): never => {
      throw error;
    };
    await expect(pod.withLock('k', {}, failing)).rejects.toBe(error);
    const lost = pod.withLock('k', {}, async () => {
      await world().store.revoke({ key: 'k', token: undefined, mode: 'now' });
      throw error;
    });
    await expect(lost).rejects.toBe(error);
    expect(await world().busy()).toEqual([]);
  });

  it('D7: closes in order: takes no more, rejects who waits, lets holders finish, releases all', async () => {
    const locks = new LockService(await world().open(), { graceMs: 10_000 });
    const events: string[] = [];
    const finishing = locks.withLock('k', {}, async (lease) => {
      await pass(400);
      events.push(`finished, aborted: ${String(lease.signal.aborted)}`);
      return 'done';
    });
    const [other] = await world().pods(1);
    const next = other.withLock('k', {}, () => events.push('the next one has it'));
    const queued = locks.acquire('k').catch((error: unknown) => error);
    await world().queued('k', 2);
    const closed = locks.close().then(() => events.push('closed'));
    expect(await queued).toBeInstanceOf(LockClosedError);
    await expect(locks.acquire('free')).rejects.toMatchObject({ code: 'draining', isRetryable: true });
    expect(await finishing).toBe('done');
    await Promise.all([closed, next]);
    expect(events[0]).toBe('finished, aborted: false');
    expect(events).toHaveLength(3);
    expect(await world().busy()).toEqual([]);
  });

  it('D7: aborts who is not done within the grace, and takes the lock from who ignores it', async () => {
    const locks = new LockService(await world().open(), { graceMs: 200 });
    const polite = locks.withLock('polite', {}, async (lease) => {
      await told(lease);
      return 'stopped';
    });
    const stubborn = await locks.acquire('stubborn');
    while ((await world().busy()).length < 2) await pass(5);
    await locks.close();
    expect(await world().busy()).toEqual([]);
    expect(await polite).toBe('stopped');
    expect(stubborn.signal.reason).toMatchObject({ code: 'lock_lost', reason: 'closing' });
    expect([stubborn.isHeld, await stubborn.release()]).toEqual([false, false]);
  });

  it('D11: keeps nothing of a key in this process after its release', async () => {
    const [pod] = await world().pods(1);
    const keys = sized(1_000, 15_000);
    const bytesPerKey: number[] = [];
    for (let round = 0, before = 0; round < WARM_ROUNDS + ROUNDS; round += 1) {
      for (let start = 0; start < keys; start += 100) {
        await Promise.all(Array.from({ length: 100 }, (_, index) => useOnce(pod, round * keys + start + index)));
      }
      const after = await heapUsed();
      bytesPerKey.push(Math.round((after - before) / keys));
      before = after;
    }
    const measured = bytesPerKey.slice(WARM_ROUNDS).sort((one, other) => one - other);
    const median = measured[Math.floor(ROUNDS / 2)];
    recordFigures('lock contract', { 'heap after 100,000 keys, bytes a key': median });
    expect(median).toBeLessThan(MEMORY_OF_FENCE_BYTES);
  });

  it('D12: has no state left that is held or waited for after many operations', async () => {
    const pods = await world().pods(3);
    const modes = ['exclusive', 'shared', { permits: 2 }] as const;
    const operate = async (round: number): Promise<void> => {
      const pod = pods[round % 3];
      const options = { mode: modes[round % 3] ?? 'exclusive', waitMs: round % 4 === 0 ? 0 : 5 };
      const lease = await pod?.acquire([`k${round % 7}`, `l${round % 3}`], options).catch(() => undefined);
      if (round % 11 === 0) await pod?.forceRelease(`k${round % 7}`, { mode: 'now' });
      await lease?.release();
    };
    for (let start = 0; start < world().time.size(300, 3_000); start += 30) {
      await Promise.all(Array.from({ length: 30 }, (_, index) => operate(start + index)));
    }
    await world().empty();
  });
}

/** The embedded store remembers the fence of a key for a minute, in this process, in about half of this. */
const MEMORY_OF_FENCE_BYTES = 400;
/** What grows only once has grown by then. */
const WARM_ROUNDS = 2;
/** A leak grows with every key, in each of them; code that is compiled or a table that doubles, in one or two. */
const ROUNDS = 5;

async function useOnce(pod: LockService, number: number): Promise<void> {
  await pod.withLock(`distinct:${number}`, {}, () => undefined);
}

/** What one collection frees only now, finalizers and weak references, is garbage for the next. */
async function heapUsed(): Promise<number> {
  setFlagsFromString('--expose-gc');
  const collect: unknown = runInNewContext('gc');
  if (typeof collect !== 'function') throw new Error('no garbage collection');
  for (let round = 0; round < 6; round += 1) {
    Reflect.apply(collect, undefined, []);
    await new Promise((resolve) => setImmediate(resolve));
  }
  return process.memoryUsage().heapUsed;
}
