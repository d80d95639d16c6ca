import { expect, it } from '@jest/globals';
import { LockLostError } from '../../src/lock/index.js';
import { eventually } from '../support/eventually.js';
import { type LockWorld, told } from '../support/lock-world.js';
import { pass } from '../support/pass.js';
import type { CallFault } from '../support/unreliable-store.js';

const LEASE_MS = 600;

/** What a holder may count on, and how it learns that it holds no more. Rows A of the cases, and invariants 1, 2 and 6. */
export function describeHolding(world: () => LockWorld): void {
  it('invariants 1 and 2: lets one in at a time, from however many pods and tasks, with fences that rise', async () => {
    const pods = await world().pods(3);
    const fences: number[] = [];
    let inside = 0;
    const visit = async (number: number): Promise<void> => {
      await pods[number % pods.length]?.withLock('k', { waitMs: 60_000 }, async ({ fence }) => {
        inside += 1;
        expect(inside).toBe(1);
        fences.push(fence);
        await pass(number % 3);
        inside -= 1;
      });
    };
    const visits = world().time.size(60, 1_000);
    await Promise.all(Array.from({ length: visits }, (_, number) => visit(number)));
    expect(fences).toHaveLength(visits);
    expect(fences).toEqual([...new Set(fences)].sort((one, other) => one - other));
  });

  it('A1: tells the holder by its own deadline when the store is silent, before the next one has it', async () => {
    const [one, two] = [await world().pod(), await world().pod()];
    const events: string[] = [];
    const lease = await one.locks.acquire('k', { leaseMs: 500 });
    expect(lease.remainingMs()).toBeLessThanOrEqual(500);
    lease.signal.addEventListener('abort', () => events.push('the holder was told'));
    one.wire.die();
    const next = await two.locks.acquire('k');
    events.push('the next one has it');
    expect(events).toEqual(['the holder was told', 'the next one has it']);
    expect(lease.signal.reason).toMatchObject({ code: 'lock_lost', reason: 'expired', fence: lease.fence });
    expect([lease.isHeld, lease.remainingMs(), await lease.release()]).toEqual([false, 0, false]);
    expect(next.fence).toBeGreaterThan(lease.fence);
    expect(await next.release()).toBe(true);
  });

  it('A2: tells the holder when a renewal finds nothing, and does not make the lock anew', async () => {
    const [one, two] = [await world().pod(), await world().pod()];
    one.wire.hears = 'nothing';
    const lost = await one.locks.acquire('a', { leaseMs: LEASE_MS });
    await world().store.revoke({ key: 'a', token: lost.token, mode: 'now' });
    const passed = await one.locks.acquire('b', { leaseMs: LEASE_MS });
    await world().store.revoke({ key: 'b', token: passed.token, mode: 'now' });
    await (await two.locks.acquire('b')).release();
    const taken = await one.locks.acquire('c', { leaseMs: LEASE_MS });
    await world().store.revoke({ key: 'c', token: taken.token, mode: 'now' });
    const successor = await two.locks.acquire('c');
    for (const lease of [lost, passed, taken]) {
      await told(lease);
      expect(lease.signal.reason).toMatchObject({ reason: 'gone' });
      expect(await lease.release()).toBe(false);
    }
    expect(await world().busy()).toEqual(['c']);
    expect(await world().holders('c')).toMatchObject([{ token: successor.token }]);
    successor.assertHeld();
    expect(await successor.release()).toBe(true);
  });

  it('A3: lets no failed renewal, release or message become an unhandled rejection', async () => {
    const { locks, wire } = await world().pod();
    const lease = await locks.acquire('k', { leaseMs: 300 });
    wire.always({ fails: new Error('the connection ended') }, 'beat', 'leave', 'acquire');
    await told(lease);
    expect(await lease.release()).toBe(false);
    await expect(locks.acquire('k', { waitMs: 100 })).rejects.toMatchObject({ code: 'store_unavailable' });
    // Whatever nobody waited for has come by now; it would fail this test.
    await pass(100);
    wire.heal();
    await (await locks.acquire('k')).release();
  });

  it('A5: leaves nothing behind of acquires that are given up at any moment', async () => {
    const pods = await world().pods(4);
    const rounds = world().time.size(200, 1_000);
    const abortAtRandom = async (round: number): Promise<void> => {
      const abort = new AbortController();
      const left = pass(Math.random() * 4).then(() => {
        abort.abort(new RangeError('left'));
      });
      try {
        const lease = await pods[round % 4]?.acquire(`k${round % 5}`, { signal: abort.signal, leaseMs: 1_000 });
        await pass(Math.random() * 2);
        expect(await lease?.release()).toBe(true);
      } catch (error) {
        expect(error).toBeInstanceOf(RangeError);
      }
      await left;
    };
    for (let round = 0; round < rounds; round += 20) {
      await Promise.all(Array.from({ length: 20 }, (_, index) => abortAtRandom(round + index)));
    }
    await world().empty();
    // A renewal that had been armed after its release would take the lock back by now.
    await pass(500);
    expect(await world().busy()).toEqual([]);
  });

  it('A7: counts the lease from the grant, however long the wait was', async () => {
    const [one, two] = await world().pods(2);
    const first = await one.acquire('k');
    const job = two.withLock('k', { leaseMs: LEASE_MS }, async (lease) => {
      expect(lease.remainingMs()).toBeGreaterThan(LEASE_MS / 2);
      await pass(1.2 * LEASE_MS);
      lease.assertHeld();
      return lease.signal.aborted;
    });
    await pass(1.2 * LEASE_MS);
    await first.release();
    expect(await job).toBe(false);
  });

  it('A9: knows by the clock, before any timer, that the process was blocked for too long', async () => {
    const [one, two] = await world().pods(2);
    const lease = await one.acquire('k', { leaseMs: 200 });
    world().time.block(500);
    expect(() => {
      lease.assertHeld();
    }).toThrow(LockLostError);
    const next = await two.acquire('k');
    expect(next.fence).toBeGreaterThan(lease.fence);
    expect(await lease.release()).toBe(false);
    next.assertHeld();
    await next.release();
  });

  it('A10: takes the lock from work that never ends, when it was held for as long as it may be', async () => {
    const [one, two] = await world().pods(2);
    let end: (value: string) => void = () => undefined;
    const hung = one.withLock('k', { maxHoldMs: 700, leaseMs: 400 }, ({ signal }) => {
      return new Promise<string>((resolve) => {
        end = (value) => {
          resolve(`${value} ${String(signal.aborted)}`);
        };
      });
    });
    const next = await two.acquire('k');
    await next.release();
    end('aborted:');
    await expect(hung).rejects.toMatchObject({ code: 'lock_lost', reason: 'max_hold', result: 'aborted: true' });
  });

  it('A12: survives a renewal that is lost, fails, or is answered late', async () => {
    const leaseMs = 1_200;
    const faults: readonly CallFault[] = ['lost', 'unsent', { fails: new Error('reset') }, { heardAfterMs: 400 }];
    const holdThrough = async (fault: CallFault, index: number): Promise<number> => {
      const { locks, wire } = await world().pod();
      return locks.withLock(`k${index}`, { leaseMs }, async (lease) => {
        wire.next('beat', fault);
        await pass(1.5 * leaseMs);
        lease.assertHeld();
        return wire.calls.beat;
      });
    };
    const beats = await Promise.all(faults.map(holdThrough));
    for (const count of beats) expect(count).toBeGreaterThan(1);
  });

  it('invariant 6: renews all that one process holds of a key in one command', async () => {
    const { locks, wire } = await world().pod();
    const wish = { mode: { permits: 20 }, leaseMs: LEASE_MS };
    const leases = await Promise.all(Array.from({ length: 20 }, () => locks.acquire('k', wish)));
    await eventually(() => wire.calls.beat > 3);
    for (const lease of leases) lease.assertHeld();
    // A beat for each would be 20 by the first renewal.
    expect(wire.calls.beat).toBeLessThan(8);
    await Promise.all(leases.map((lease) => lease.release()));
    const before = wire.calls.beat;
    await pass(LEASE_MS / 2);
    expect(wire.calls.beat).toBe(before);
  });
}
