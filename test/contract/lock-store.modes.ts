import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { acquire, beat, leave, type LockBench } from '../support/lock-bench.js';

/** Capacity and weight: exclusive, shared, permits. */
export function describeLockModes(start: () => Promise<LockBench>): void {
  let bench: LockBench;
  beforeEach(async () => {
    bench = await start();
  });
  afterEach(() => bench.close());

  const granted = async (): Promise<readonly string[]> => (await bench.heard()).map(([, message]) => message.token);

  it('shares among readers, and lets a writer in when all have left', async () => {
    const reader = { capacity: 1_000 };
    const writer = { capacity: 1_000, weight: 1_000 };
    expect(await acquire(bench.store, 'p1-1', reader)).toMatchObject({ kind: 'granted' });
    expect(await acquire(bench.store, 'p2-1', reader)).toMatchObject({ kind: 'granted' });
    expect(await acquire(bench.store, 'p1-2', writer)).toMatchObject({ kind: 'queued' });
    // Readers that come later wait behind the writer.
    expect(await acquire(bench.store, 'p2-2', reader)).toMatchObject({ kind: 'queued' });
    expect(await acquire(bench.store, 'p3-1', reader)).toMatchObject({ kind: 'queued' });
    await leave(bench.store, 'p1-1');
    expect(await granted()).toEqual([]);
    await leave(bench.store, 'p2-1');
    expect(await granted()).toEqual(['p1-2']);
    await leave(bench.store, 'p1-2');
    expect(await granted()).toEqual(['p2-2', 'p3-1']);
  });

  it('gives out as many permits as there are', async () => {
    const kinds: string[] = [];
    for (let number = 1; number <= 5; number += 1) {
      kinds.push((await acquire(bench.store, `p1-${number}`, { capacity: 3 })).kind);
    }
    expect(kinds).toEqual(['granted', 'granted', 'granted', 'queued', 'queued']);
    expect(await bench.store.inspect('k')).toMatchObject({ capacity: 3, used: 3, queued: 2 });
    await leave(bench.store, 'p1-2');
    expect(await granted()).toEqual(['p1-4']);
  });

  it('takes one permit back and leaves the others', async () => {
    await acquire(bench.store, 'p1-1', { capacity: 3 });
    await acquire(bench.store, 'p1-2', { capacity: 3, weight: 2 });
    expect(await leave(bench.store, 'p1-2')).toBe('holder');
    expect(await bench.store.inspect('k')).toMatchObject({ used: 1, holders: [{ token: 'p1-1' }] });
  });

  it('clamps a weight to the capacity', async () => {
    expect(await acquire(bench.store, 'p1-1', { capacity: 2, weight: 9 })).toMatchObject({ kind: 'granted' });
    expect(await bench.store.inspect('k')).toMatchObject({ used: 2 });
  });

  it('goes by the smaller capacity while anything is held', async () => {
    await acquire(bench.store, 'p1-1', { capacity: 3 });
    await acquire(bench.store, 'p1-2', { capacity: 3 });
    expect(await acquire(bench.store, 'p2-1', { capacity: 2 })).toMatchObject({ kind: 'queued' });
    expect(await acquire(bench.store, 'p2-2', { capacity: 9, waits: false })).toMatchObject({ kind: 'busy' });
    await leave(bench.store, 'p1-1');
    expect(await granted()).toEqual(['p2-1']);
    expect(await bench.store.inspect('k')).toMatchObject({ capacity: 2, used: 2 });
    await acquire(bench.store, 'p3-1', { capacity: 3 });
    await acquire(bench.store, 'p3-2', { capacity: 3 });
    // With the smaller one goes its capacity, for those who come next and for those who wait.
    await leave(bench.store, 'p2-1');
    expect(await granted()).toEqual(['p3-1', 'p3-2']);
    expect(await bench.store.inspect('k')).toMatchObject({ capacity: 3, used: 3 });
  });

  it.each([
    ['is refused', { waits: false }],
    ['waits and gives up', { waits: true }],
  ])('keeps its capacity where a request with a smaller one %s', async (_, how) => {
    for (const token of ['p1-1', 'p1-2']) await acquire(bench.store, token, { capacity: 4 });
    await acquire(bench.store, 'p2-1', { capacity: 1, ...how });
    expect(await bench.store.inspect('k')).toMatchObject({ capacity: 4, used: 2 });
    await leave(bench.store, 'p2-1');
    for (const token of ['p3-1', 'p3-2']) await acquire(bench.store, token, { capacity: 4, waits: false });
    expect(await bench.store.inspect('k')).toMatchObject({ capacity: 4, used: 4 });
  });

  it('lets nobody in beside a writer, whatever capacity it asks for', async () => {
    await acquire(bench.store, 'p1-1', { capacity: 1_000, weight: 1_000 });
    expect(await acquire(bench.store, 'p2-1', { capacity: 5, waits: false })).toMatchObject({ kind: 'busy' });
    expect(await bench.store.inspect('k')).toMatchObject({ capacity: 1_000, used: 1_000 });
  });

  it('finds the smallest capacity among many when the one that had it leaves', async () => {
    await acquire(bench.store, 'p1-0', { capacity: 30 });
    for (let number = 1; number <= 20; number += 1) await acquire(bench.store, `p2-${number}`, { capacity: 60 });
    await acquire(bench.store, 'p3-0', { capacity: 40, leaseMs: 60_000 });
    await leave(bench.store, 'p1-0');
    expect(await bench.store.inspect('k')).toMatchObject({ capacity: 40, used: 21 });
    await leave(bench.store, 'p3-0');
    expect(await bench.store.inspect('k')).toMatchObject({ capacity: 60, used: 20 });
  });

  it('goes by its own capacity once the leases of others are over', async () => {
    await acquire(bench.store, 'p1-1', { capacity: 1, leaseMs: 1_000 });
    bench.clock.us += 1_000_000;
    expect(await acquire(bench.store, 'p2-1', { capacity: 2 })).toMatchObject({ kind: 'granted' });
    expect(await bench.store.inspect('k')).toMatchObject({ capacity: 2, used: 1 });
  });

  it('holds no more than the capacity while holders and waiters come and go', async () => {
    for (let number = 1; number <= 40; number += 1) {
      await acquire(bench.store, `p${1 + (number % 3)}-${number}`, { capacity: 4, weight: 1 + (number % 4) });
      if (number % 3 === 0) await leave(bench.store, `p${1 + ((number / 3) % 3)}-${number / 3}`);
      if (number % 5 === 0) await beat(bench.store, [`p1-${number}`]);
      const state = await bench.store.inspect('k');
      const weight = (state?.holders ?? []).reduce((sum, holder) => sum + holder.weight, 0);
      expect(weight).toBe(state?.used);
      expect(weight).toBeLessThanOrEqual(4);
      bench.clock.us += 10_000;
    }
  });
}
