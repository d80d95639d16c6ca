import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { acquire, beat, leave, type LockBench } from '../support/lock-bench.js';

const SECOND = 1_000_000;

/** Leases, silence, and a clock that steps. */
export function describeLockClock(start: () => Promise<LockBench>): void {
  let bench: LockBench;
  beforeEach(async () => {
    bench = await start();
  });
  afterEach(() => bench.close());

  const fenceOf = async (token: string): Promise<number> => {
    const answer = await acquire(bench.store, token);
    return answer.kind === 'granted' ? answer.fence : Number.NaN;
  };

  it('ends a lease at its deadline, not before', async () => {
    await acquire(bench.store, 'p1-1', { leaseMs: 1_000 });
    bench.clock.us += SECOND - 1;
    expect(await acquire(bench.store, 'p2-1', { waits: false })).toMatchObject({ kind: 'busy', nextExpiryMs: 1 });
    bench.clock.us += 1;
    expect(await acquire(bench.store, 'p2-1', { waits: false })).toMatchObject({ kind: 'granted' });
  });

  it('never shortens a lease: a renewal that was sent before a longer one may arrive after it', async () => {
    await acquire(bench.store, 'p1-1', { leaseMs: 10_000 });
    await beat(bench.store, [], ['p1-1'], 1_000);
    await acquire(bench.store, 'p1-1', { leaseMs: 1_000 });
    bench.clock.us += 9 * SECOND;
    expect(await acquire(bench.store, 'p2-1', { waits: false })).toMatchObject({ kind: 'busy', nextExpiryMs: 1_000 });
  });

  it('never lowers a fence when the clock steps back within the fence memory', async () => {
    const first = await fenceOf('p1-1');
    await leave(bench.store, 'p1-1');
    bench.clock.us -= 50 * SECOND;
    const second = await fenceOf('p1-2');
    expect(second).toBe(first + 1);
    bench.clock.us -= 50 * SECOND;
    await leave(bench.store, 'p1-2');
    expect(await fenceOf('p1-3')).toBe(second + 1);
  });

  it('remembers the last fence of a holder that never left', async () => {
    const first = await fenceOf('p1-1');
    bench.clock.us += 80 * SECOND;
    expect(await bench.store.inspect('k')).toBeUndefined();
    bench.clock.us -= 82 * SECOND;
    // The lease goes on where time stood.
    expect(await acquire(bench.store, 'p2-1', { waits: false })).toMatchObject({ kind: 'busy' });
    bench.clock.us += 33 * SECOND;
    expect(await fenceOf('p2-2')).toBeGreaterThan(first);
  });

  it('goes on with a lease when the clock steps back', async () => {
    await acquire(bench.store, 'p1-1', { leaseMs: 1_000 });
    bench.clock.us -= 20 * SECOND;
    await beat(bench.store, ['p1-9']);
    bench.clock.us += 0.9 * SECOND;
    expect(await acquire(bench.store, 'p2-1', { waits: false })).toMatchObject({ kind: 'busy' });
    bench.clock.us += 0.2 * SECOND;
    expect(await acquire(bench.store, 'p2-1', { waits: false })).toMatchObject({ kind: 'granted' });
  });

  it('counts no time in which nobody could give a sign of life: waiters live on, leases too', async () => {
    await acquire(bench.store, 'p1-1', { leaseMs: 3_000 });
    await acquire(bench.store, 'p2-1');
    bench.clock.us += 5 * SECOND;
    expect((await beat(bench.store, ['p2-1'])).waiters).toMatchObject([{ kind: 'queued' }]);
    expect((await beat(bench.store, [], ['p1-1'])).renewals).toEqual(['renewed']);
    bench.clock.us += 5 * SECOND;
    await leave(bench.store, 'p1-1');
    expect((await bench.heard()).map(([, message]) => message.token)).toEqual(['p2-1']);
  });

  it('finds its own waiters alive after a long silence, since it speaks now', async () => {
    await acquire(bench.store, 'p1-1', { leaseMs: 1_000 });
    await acquire(bench.store, 'p2-1');
    bench.clock.us += 9 * SECOND;
    await acquire(bench.store, 'p2-2');
    expect((await bench.heard()).map(([, message]) => message.token)).toEqual(['p2-1']);
  });

  it('forgets holders and waiters of whom nobody speaks any more', async () => {
    await acquire(bench.store, 'p1-1', { leaseMs: 1_000 });
    await acquire(bench.store, 'p2-1');
    bench.clock.us += 11 * SECOND;
    expect(await bench.store.inspect('k')).toBeUndefined();
    expect(await bench.store.list(10)).toEqual([]);
    expect(await acquire(bench.store, 'p3-1', { waits: false })).toMatchObject({ kind: 'granted' });
    expect((await beat(bench.store, ['p2-1'])).waiters).toEqual([{ kind: 'gone' }]);
    expect(await bench.heard()).toEqual([]);
  });
}
