import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { describeLockClock } from './lock-store.clock.js';
import { describeLockModes } from './lock-store.modes.js';
import { describeLockOperators } from './lock-store.operators.js';
import { acquire, beat, leave, type LockBench } from '../support/lock-bench.js';

/** What every LockStore does, in a time that the test sets. */
export function describeLockStore(name: string, start: () => Promise<LockBench>): void {
  describe(`${name}, taking and leaving`, () => {
    describeTaking(start);
  });
  describe(`${name}, waiting`, () => {
    describeWaiting(start);
  });
  describe(`${name}, operators`, () => {
    describeLockOperators(start);
  });
  describe(`${name}, modes`, () => {
    describeLockModes(start);
  });
  describe(`${name}, time`, () => {
    describeLockClock(start);
  });
}

function describeTaking(start: () => Promise<LockBench>): void {
  let bench: LockBench;
  beforeEach(async () => {
    bench = await start();
  });
  afterEach(() => bench.close());

  it('grants a free lock with a fence not below the clock', async () => {
    const answer = await acquire(bench.store, 'p1-1');
    expect(answer).toEqual({ kind: 'granted', fence: bench.clock.us });
  });

  it('gives each holder a larger fence, also at one instant', async () => {
    const first = await acquire(bench.store, 'p1-1');
    await leave(bench.store, 'p1-1');
    const second = await acquire(bench.store, 'p1-2');
    expect([first, second]).toEqual([
      { kind: 'granted', fence: bench.clock.us },
      { kind: 'granted', fence: bench.clock.us + 1 },
    ]);
  });

  it('says busy to who does not wait, with the time of the next expiry', async () => {
    await acquire(bench.store, 'p1-1', { leaseMs: 5_000 });
    bench.clock.us += 1_500_000;
    const answer = await acquire(bench.store, 'p2-1', { waits: false });
    expect(answer).toEqual({ kind: 'busy', counter: bench.clock.us - 1_500_000, nextExpiryMs: 3_500 });
    expect((await bench.store.inspect('k'))?.waiters).toEqual([]);
  });

  it('finds its own token held: the same fence, and the lease anew', async () => {
    const first = await acquire(bench.store, 'p1-1', { leaseMs: 1_000 });
    bench.clock.us += 900_000;
    expect(await acquire(bench.store, 'p1-1', { leaseMs: 1_000 })).toEqual(first);
    bench.clock.us += 900_000;
    expect(await acquire(bench.store, 'p2-1', { waits: false })).toMatchObject({ kind: 'busy', nextExpiryMs: 100 });
  });

  it('finds its own token queued: the same ticket', async () => {
    await acquire(bench.store, 'p1-1');
    const first = await acquire(bench.store, 'p2-1');
    bench.clock.us += 100_000;
    const second = await acquire(bench.store, 'p2-1');
    expect(first).toMatchObject({ kind: 'queued' });
    expect(second).toMatchObject({ kind: 'queued', ticket: first.kind === 'queued' ? first.ticket : 0 });
    expect((await bench.store.inspect('k'))?.queued).toBe(1);
  });

  it('buries a token that was given up unanswered, for its time and on its key only', async () => {
    expect(await leave(bench.store, 'p1-1', { tombstoneMs: 60_000 })).toBe('unknown');
    bench.clock.us += 59_999_000;
    expect(await acquire(bench.store, 'p1-1')).toEqual({ kind: 'buried' });
    expect(await acquire(bench.store, 'p1-1', { key: 'other' })).toMatchObject({ kind: 'granted' });
    bench.clock.us += 1_000;
    expect(await acquire(bench.store, 'p1-1')).toMatchObject({ kind: 'granted' });
  });

  it('tells who left what, and touches nobody else', async () => {
    await acquire(bench.store, 'p1-1');
    await acquire(bench.store, 'p2-1');
    expect(await leave(bench.store, 'p3-1')).toBe('unknown');
    expect(await leave(bench.store, 'p2-1')).toBe('waiter');
    expect(await leave(bench.store, 'p1-1')).toBe('holder');
    expect(await leave(bench.store, 'p1-1')).toBe('unknown');
  });

  it('never renews or releases the lock of a successor', async () => {
    await acquire(bench.store, 'p1-1', { leaseMs: 1_000 });
    bench.clock.us += 1_000_001;
    const successor = await acquire(bench.store, 'p2-1');
    expect((await beat(bench.store, [], ['p1-1'])).renewals).toEqual(['gone']);
    expect(await leave(bench.store, 'p1-1')).toBe('unknown');
    expect(await acquire(bench.store, 'p2-1')).toEqual(successor);
  });

  it('creates nothing by a renewal', async () => {
    expect(await beat(bench.store, ['p1-2'], ['p1-1'])).toEqual({
      counter: 0,
      nextExpiryMs: undefined,
      renewals: ['gone'],
      waiters: [{ kind: 'gone' }],
    });
    expect(await bench.store.inspect('k')).toBeUndefined();
  });

  it('keeps a minimum hold, however often it is left', async () => {
    await acquire(bench.store, 'p1-1');
    expect(await leave(bench.store, 'p1-1', { keepMs: 700 })).toBe('holder');
    bench.clock.us += 500_000;
    expect(await leave(bench.store, 'p1-1')).toBe('holder');
    expect(await acquire(bench.store, 'p1-1')).toEqual({ kind: 'revoked' });
    expect((await beat(bench.store, [], ['p1-1'])).renewals).toEqual(['gone']);
    expect((await bench.store.inspect('k'))?.holders).toMatchObject([{ state: 'released', leaseLeftMs: 200 }]);
    bench.clock.us += 200_000;
    expect(await acquire(bench.store, 'p2-1')).toMatchObject({ kind: 'granted' });
  });
}

function describeWaiting(start: () => Promise<LockBench>): void {
  let bench: LockBench;
  beforeEach(async () => {
    bench = await start();
  });
  afterEach(() => bench.close());

  it('hands a released lock to the first waiter and tells its process alone', async () => {
    await acquire(bench.store, 'p1-1');
    await acquire(bench.store, 'p2-1');
    await acquire(bench.store, 'p3-1');
    await leave(bench.store, 'p1-1');
    const fence = bench.clock.us + 3;
    expect(await bench.heard()).toEqual([['p2', { kind: 'grant', key: 'k', token: 'p2-1', fence, leaseMs: 2_000 }]]);
    expect((await beat(bench.store, ['p2-1'])).waiters).toEqual([{ kind: 'granted', fence, leftMs: 2_000 }]);
    expect((await beat(bench.store, [], ['p2-1'])).renewals).toEqual(['renewed']);
    bench.clock.us += 29_000_000;
    expect((await beat(bench.store, ['p3-1'])).waiters).toMatchObject([{ kind: 'queued' }]);
    expect(await acquire(bench.store, 'p2-1')).toEqual({ kind: 'granted', fence });
  });

  it('passes a grant on when its waiter had just cancelled', async () => {
    await acquire(bench.store, 'p1-1');
    await acquire(bench.store, 'p2-1');
    await acquire(bench.store, 'p3-1');
    await leave(bench.store, 'p1-1');
    expect(await leave(bench.store, 'p2-1')).toBe('holder');
    expect((await bench.heard()).map(([, message]) => message.token)).toEqual(['p2-1', 'p3-1']);
  });

  it('lets those behind a cancelled wide waiter in', async () => {
    await acquire(bench.store, 'p1-1', { capacity: 3 });
    await acquire(bench.store, 'p2-1', { capacity: 3, weight: 3 });
    await acquire(bench.store, 'p3-1', { capacity: 3 });
    expect(await leave(bench.store, 'p2-1')).toBe('waiter');
    expect((await bench.heard()).map(([, message]) => message.token)).toEqual(['p3-1']);
  });

  it('lets a dead waiter cost no more than its grant and a beat', async () => {
    await acquire(bench.store, 'p1-1');
    await acquire(bench.store, 'p2-1');
    await acquire(bench.store, 'p3-1');
    await leave(bench.store, 'p1-1');
    const released = bench.clock.us;
    let place = (await beat(bench.store, ['p3-1'])).waiters[0];
    while (place?.kind === 'queued') {
      bench.clock.us += 500_000;
      place = (await beat(bench.store, ['p3-1'])).waiters[0];
    }
    expect(place).toMatchObject({ kind: 'granted' });
    expect(bench.clock.us - released).toBeLessThanOrEqual(2_500_000);
  });

  it('skips waiters whose process is silent, and gives the old place back to its ticket', async () => {
    await acquire(bench.store, 'p1-1');
    const lost = await acquire(bench.store, 'p2-1');
    await acquire(bench.store, 'p3-1');
    await acquire(bench.store, 'p3-2');
    for (let beats = 0; beats < 4; beats += 1) {
      bench.clock.us += 500_000;
      await beat(bench.store, ['p3-1', 'p3-2']);
    }
    await leave(bench.store, 'p1-1');
    expect((await beat(bench.store, ['p2-1'])).waiters).toEqual([{ kind: 'gone' }]);
    const ticket = lost.kind === 'queued' ? lost.ticket : 0;
    expect(await acquire(bench.store, 'p2-2', { ticket })).toMatchObject({ kind: 'queued', ticket });
    await leave(bench.store, 'p3-1');
    expect((await bench.heard()).map(([, message]) => message.token)).toEqual(['p3-1', 'p2-2']);
  });

  it('grants at once to an old ticket that comes back before all others', async () => {
    await acquire(bench.store, 'p1-1', { capacity: 2 });
    await acquire(bench.store, 'p2-1', { capacity: 2, weight: 2 });
    const ticket = bench.clock.us - 1;
    expect(await acquire(bench.store, 'p3-1', { capacity: 2, ticket })).toMatchObject({ kind: 'granted' });
  });

  it('serves 1,000 waiters in the order of their tickets', async () => {
    await acquire(bench.store, 'p1-0');
    for (let number = 1; number <= 1_000; number += 1) {
      await acquire(bench.store, `p${1 + (number % 3)}-${number}`);
    }
    let holder = 'p1-0';
    const served: string[] = [];
    for (let number = 1; number <= 1_000; number += 1) {
      await leave(bench.store, holder);
      holder = (await bench.store.inspect('k'))?.holders[0]?.token ?? '';
      served.push(holder);
    }
    expect(served).toEqual(Array.from({ length: 1_000 }, (_, index) => `p${1 + ((index + 1) % 3)}-${index + 1}`));
    await leave(bench.store, holder);
    expect((await bench.heard()).map(([, message]) => message.token)).toHaveLength(1_000);
    expect(await bench.store.inspect('k')).toBeUndefined();
  });
}
