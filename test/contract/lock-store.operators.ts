import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { acquire, beat, leave, type LockBench } from '../support/lock-bench.js';

/** What an operator sees and does. */
export function describeLockOperators(start: () => Promise<LockBench>): void {
  let bench: LockBench;
  beforeEach(async () => {
    bench = await start();
  });
  afterEach(() => bench.close());

  it('drains: tells the holder, refuses its renewals, and waits for its lease', async () => {
    const held = await acquire(bench.store, 'p1-1', { leaseMs: 3_000 });
    await acquire(bench.store, 'p2-1');
    expect(await bench.store.revoke({ key: 'k', token: undefined, mode: 'drain' })).toEqual({ revoked: 1 });
    const fence = held.kind === 'granted' ? held.fence : 0;
    expect(await bench.heard()).toEqual([['p1', { kind: 'revoke', key: 'k', token: 'p1-1', fence }]]);
    expect((await beat(bench.store, [], ['p1-1'])).renewals).toEqual(['revoked']);
    expect(await acquire(bench.store, 'p1-1')).toEqual({ kind: 'revoked' });
    expect((await beat(bench.store, ['p2-1'])).waiters).toMatchObject([{ kind: 'queued' }]);
    await leave(bench.store, 'p1-1');
    expect((await beat(bench.store, ['p2-1'])).waiters).toMatchObject([{ kind: 'granted' }]);
  });

  it('revokes now: the next one has it at once, with a larger fence', async () => {
    const held = await acquire(bench.store, 'p1-1');
    await acquire(bench.store, 'p2-1');
    expect(await bench.store.revoke({ key: 'k', token: 'p9-9', mode: 'now' })).toEqual({ revoked: 0 });
    expect(await bench.store.revoke({ key: 'k', token: 'p1-1', mode: 'now' })).toEqual({ revoked: 1 });
    const fences = (await bench.heard()).map(([, message]) => message.fence);
    expect(fences).toEqual([held.kind === 'granted' ? held.fence : 0, bench.clock.us + 2]);
    expect((await beat(bench.store, [], ['p1-1'])).renewals).toEqual(['gone']);
  });

  it('drains nothing that was released and is kept for its time, but cuts it short now', async () => {
    await acquire(bench.store, 'p1-1');
    await leave(bench.store, 'p1-1', { keepMs: 5_000 });
    const revoke = (mode: 'drain' | 'now') => bench.store.revoke({ key: 'k', token: undefined, mode });
    expect(await revoke('drain')).toEqual({ revoked: 0 });
    expect((await bench.store.inspect('k'))?.holders).toMatchObject([{ token: 'p1-1', state: 'released' }]);
    expect(await revoke('now')).toEqual({ revoked: 1 });
    expect(await bench.store.inspect('k')).toBeUndefined();
    expect(await bench.heard()).toEqual([]);
  });

  it('counts and tells nobody whose lease is over', async () => {
    await acquire(bench.store, 'p1-1', { capacity: 2, leaseMs: 1_000 });
    await acquire(bench.store, 'p2-1', { capacity: 2, leaseMs: 9_000 });
    bench.clock.us += 1_000_000;
    expect(await bench.store.revoke({ key: 'k', token: undefined, mode: 'drain' })).toEqual({ revoked: 1 });
    expect((await bench.heard()).map(([, { token }]) => token)).toEqual(['p2-1']);
    expect(await bench.store.revoke({ key: 'k', token: 'p1-1', mode: 'now' })).toEqual({ revoked: 0 });
  });

  it('shows holders and waiters, and lists the keys that have any', async () => {
    await acquire(bench.store, 'p1-1', { capacity: 2, weight: 2, description: 'pay' });
    await acquire(bench.store, 'p2-1', { capacity: 2, description: 'refund' });
    bench.clock.us += 100_000;
    const [holder, waiter] = [bench.clock.us - 100_000, bench.clock.us - 99_999];
    const process = 'p1';
    expect(await bench.store.inspect('k')).toEqual({
      key: 'k',
      capacity: 2,
      used: 2,
      queued: 1,
      holders: [
        { token: 'p1-1', fence: holder, weight: 2, process, description: 'pay', leaseLeftMs: 29_900, state: 'held' },
      ],
      waiters: [{ token: 'p2-1', ticket: waiter, process: 'p2', description: 'refund' }],
    });
    await acquire(bench.store, 'p1-2', { key: 'gone', leaseMs: 1_000 });
    await acquire(bench.store, 'p1-3', { key: 'rested' });
    await bench.store.leave({ key: 'rested', token: 'p1-3', keepMs: 0, tombstoneMs: 0 });
    await acquire(bench.store, 'p1-4', { key: 'b', leaseMs: 60_000 });
    bench.clock.us += 1_000_000;
    expect((await bench.store.list(10)).map(({ key }) => key).sort()).toEqual(['b', 'k']);
    expect(await bench.store.list(1)).toHaveLength(1);
  });

  it('keeps texts of users as they are, and cuts long descriptions', async () => {
    const key = 'a{b}|c%0041:é\n*\ud800"';
    const description = `|${'x'.repeat(198)}🔒more`;
    await acquire(bench.store, 'p1-|{1}', { key, description, process: 'p1' });
    await acquire(bench.store, 'p2-%', { key, description: '\u0000|' });
    const state = await bench.store.inspect(key);
    expect(state?.holders).toMatchObject([{ token: 'p1-|{1}', description: `|${'x'.repeat(198)}🔒` }]);
    expect(state?.waiters).toMatchObject([{ token: 'p2-%', description: '\u0000|' }]);
    expect((await bench.store.list(10)).map(({ key }) => key)).toEqual([key]);
    await bench.store.leave({ key, token: 'p1-|{1}', keepMs: 0, tombstoneMs: 60_000 });
    expect(await bench.heard()).toMatchObject([['p2', { kind: 'grant', key, token: 'p2-%' }]]);
    expect(await acquire(bench.store, 'p1-|{1}', { key })).toEqual({ kind: 'buried' });
  });
}
