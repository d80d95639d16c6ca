import { describe, expect, it } from '@jest/globals';
import { SuspendAwareClock } from '../../../src/store/process/suspend-aware.clock.js';
import { ClientRig } from '../../support/lock-client-rig.js';

const queued = (ticket: number, counter: number) =>
  ({ kind: 'queued', ticket, counter, nextExpiryMs: 10_000 }) as const;
const grant = (token: string, fence: number) => ({ kind: 'grant', key: 'k', token, fence, leaseMs: 2_000 }) as const;

describe('LockClient', () => {
  it('counts a lease from the sending of the call that got it', () => {
    const rig = new ClientRig();
    const acquisition = rig.acquire({ leaseMs: 1_000 });
    rig.pass(400);
    rig.acquires[0]?.answer({ kind: 'granted', fence: 7 });
    expect(rig.events).toEqual(['held at 400']);
    expect(rig.client.remainingMs(acquisition)).toBeCloseTo(1_000 - 12 - 400);
    rig.pass(588);
    expect(rig.events).toEqual(['held at 400', 'lost: expired at 988']);
  });

  it('renews first what is granted with nothing left, and starts on the answer', () => {
    const rig = new ClientRig();
    rig.acquire({ leaseMs: 300 });
    rig.pass(800);
    rig.acquires[0]?.answer({ kind: 'granted', fence: 7 });
    expect(rig.events).toEqual([]);
    rig.beats[0]?.answer({ counter: 7, nextExpiryMs: 300, renewals: ['renewed'], waiters: [] });
    expect(rig.events).toEqual(['held at 800']);
  });

  it('asks again with the same token, and takes a late answer to the first call', () => {
    const rig = new ClientRig();
    rig.acquire();
    rig.acquires[0]?.silence();
    rig.pass(200);
    expect(rig.acquires.map(({ command }) => command.token)).toEqual(['p-1', 'p-1']);
    rig.acquires[0]?.answer({ kind: 'granted', fence: 1 });
    expect(rig.events).toEqual(['held at 200']);
  });

  it('R1: counts a grant by message from the newest command that surely ran before it', () => {
    const rig = new ClientRig();
    const acquisition = rig.acquire();
    rig.acquires[0]?.answer(queued(10, 10));
    rig.pass(500);
    rig.beats[0]?.answer({ counter: 10, nextExpiryMs: 9_000, renewals: [], waiters: [{ kind: 'queued', ticket: 10 }] });
    rig.pass(100);
    rig.client.receive(grant('p-1', 11));
    expect(rig.events).toEqual(['held at 600']);
    expect(rig.client.remainingMs(acquisition)).toBeCloseTo(500 + 2_000 - 22 - 600);
  });

  it('R2: takes no grant that is older than a word that it is queued', () => {
    const rig = new ClientRig();
    rig.acquire();
    rig.acquires[0]?.answer(queued(20, 20));
    rig.client.receive(grant('p-1', 15));
    expect(rig.events).toEqual([]);
    rig.client.receive(grant('p-1', 21));
    expect(rig.events).toEqual(['held at 0']);
  });

  it('does not begin with a stale grant whose acquire was answered by silence', () => {
    const rig = new ClientRig();
    rig.acquire();
    // The call ran, the grant f=11 was lost, its short lease is over, somebody else holds f=12; the second call queues anew.
    rig.pass(1_000);
    rig.acquires[0]?.silence();
    rig.pass(1_600);
    rig.acquires[1]?.answer(queued(13, 13));
    rig.client.receive(grant('p-1', 11));
    rig.pass(10);
    expect(rig.events).toEqual([]);
  });

  it('R3: retakes a lost place under a new token with the old ticket', () => {
    const rig = new ClientRig();
    rig.acquire();
    rig.acquires[0]?.answer(queued(10, 10));
    rig.pass(500);
    rig.beats[0]?.answer({ counter: 12, nextExpiryMs: undefined, renewals: [], waiters: [{ kind: 'gone' }] });
    expect(rig.acquires[1]?.command).toMatchObject({ token: 'p-2', ticket: 10 });
    rig.client.receive(grant('p-1', 11));
    expect(rig.events).toEqual([]);
    expect(rig.leaves.map(({ command }) => command.token)).toEqual(['p-1']);
  });

  it('undoes a grant that comes after the wait was given up, and buries the token', () => {
    const rig = new ClientRig();
    rig.client.cancel(rig.acquire());
    expect(rig.leaves[0]?.command).toMatchObject({ token: 'p-1', tombstoneMs: 60_000 });
    rig.leaves[0]?.answer('unknown');
    rig.acquires[0]?.answer({ kind: 'granted', fence: 1 });
    expect(rig.leaves[1]?.command).toMatchObject({ token: 'p-1', tombstoneMs: 60_000 });
    rig.leaves[1]?.answer('holder');
    expect(rig.events).toEqual([]);
    expect(rig.timers).toBe(0);
  });

  it('says nothing more once it is stopped, whatever comes late', () => {
    const rig = new ClientRig();
    rig.client.cancel(rig.acquire());
    rig.acquire();
    rig.client.stop();
    expect(rig.leaves).toHaveLength(2);
    for (const call of rig.acquires) call.answer({ kind: 'granted', fence: 1 });
    for (const call of rig.leaves) call.silence();
    expect(rig.leaves).toHaveLength(2);
    expect(rig.timers).toBe(0);
  });

  it('says that it leaves until it is heard, at most a minute', () => {
    const rig = new ClientRig();
    const acquisition = rig.acquire();
    rig.acquires[0]?.answer({ kind: 'granted', fence: 1 });
    const heard: string[] = [];
    expect(rig.client.release(acquisition, ({ kind }) => heard.push(kind))).toBe(true);
    for (let second = 0; second < 70; second += 1) {
      rig.leaves.at(-1)?.silence();
      rig.pass(1_000);
    }
    expect(rig.leaves.length).toBeGreaterThan(50);
    expect(rig.leaves.length).toBeLessThan(70);
    expect(heard).toEqual(['silent']);
    expect(rig.timers).toBe(0);
  });

  it('keeps a lease although an answer to a renewal is lost, and ends it when the store says so', () => {
    const rig = new ClientRig();
    rig.acquire({ leaseMs: 3_000 });
    rig.acquires[0]?.answer({ kind: 'granted', fence: 1 });
    rig.pass(1_000);
    rig.beats[0]?.silence();
    rig.pass(250);
    rig.beats[1]?.answer({ counter: 1, nextExpiryMs: 3_000, renewals: ['renewed'], waiters: [] });
    rig.pass(2_000);
    expect(rig.events).toEqual(['held at 0']);
    rig.beats.at(-1)?.answer({ counter: 1, nextExpiryMs: undefined, renewals: ['gone'], waiters: [] });
    expect(rig.events.at(-1)).toBe('lost: gone at 3250');
    rig.leaves[0]?.answer('unknown');
    expect(rig.timers).toBe(0);
  });

  it('asks about the oldest waiters in every beat, and about all in turn', () => {
    const rig = new ClientRig();
    for (let waiter = 1; waiter <= 100; waiter += 1) {
      rig.acquire();
      rig.acquires.at(-1)?.answer(queued(waiter, waiter));
    }
    rig.pass(2_600);
    const asked = rig.beats.map(({ command }) => command.waiters);
    expect(asked.every((tokens) => tokens.length === 64 && tokens[0] === 'p-1' && tokens[31] === 'p-32')).toBe(true);
    expect(new Set(asked.flat()).size).toBe(100);
    rig.client.stop();
    expect(rig.timers).toBe(0);
  });

  it('keeps to the minimum hold when a late answer has the token buried', () => {
    const rig = new ClientRig();
    const acquisition = rig.acquire({ minHoldMs: 300 });
    rig.acquires[0]?.answer({ kind: 'granted', fence: 1 });
    rig.pass(100);
    rig.client.release(acquisition, () => undefined);
    rig.acquires[0]?.answer({ kind: 'granted', fence: 1 });
    expect(rig.leaves.map(({ command }) => [command.keepMs, command.tombstoneMs])).toEqual([
      [200, 0],
      [200, 60_000],
    ]);
  });

  it('asks about all its waiters at once when messages may have been lost', () => {
    const rig = new ClientRig();
    rig.acquire();
    rig.acquires[0]?.answer(queued(20, 20));
    rig.acquire();
    rig.acquires[1]?.answer({ kind: 'granted', fence: 21 });
    rig.pass(100);
    rig.client.askAnew();
    expect(rig.beats.map(({ sentAt, command }) => [sentAt, command.waiters])).toEqual([[100, ['p-1']]]);
    rig.beats[0]?.answer({
      ...{ counter: 22, nextExpiryMs: 1_000, renewals: [] },
      waiters: [{ kind: 'granted', fence: 22, leftMs: 1_000 }],
    });
    expect(rig.events).toEqual(['held at 0', 'held at 100']);
  });

  it('renews what it holds at once when messages may have been lost: it may have been revoked', () => {
    const rig = new ClientRig();
    rig.acquire();
    rig.client.askAnew();
    expect(rig.beats).toEqual([]);
    rig.acquires[0]?.answer({ kind: 'granted', fence: 21 });
    rig.pass(100);
    rig.client.askAnew();
    rig.client.askAnew();
    expect(rig.beats.map(({ sentAt, command }) => [sentAt, command.renewals.length])).toEqual([
      [100, 1],
      [100, 1],
    ]);
    rig.beats[0]?.answer({ counter: 22, nextExpiryMs: undefined, renewals: ['revoked'], waiters: [] });
    expect(rig.events).toEqual(['held at 0', 'lost: revoked at 100']);
  });

  it('renews nothing anew that has been held for as long as it may be', () => {
    const rig = new ClientRig();
    rig.acquire({ maxHoldMs: 5_000 });
    rig.acquires[0]?.answer({ kind: 'granted', fence: 21 });
    rig.client.askAnew();
    expect(rig.beats).toEqual([]);
  });

  it('fails at once where it must not wait', () => {
    const rig = new ClientRig();
    rig.acquire({ waits: false });
    rig.acquires[0]?.answer({ kind: 'busy', counter: 3, nextExpiryMs: 500 });
    rig.acquire({ waits: false });
    rig.acquires[1]?.silence();
    expect(rig.events).toEqual(['failed: busy at 0', 'failed: store at 0']);
  });
});

describe('SuspendAwareClock', () => {
  it('counts the time in which the machine was suspended, and never falls', () => {
    let [monotonic, wall] = [100, 1_000_000];
    const clock = new SuspendAwareClock(
      () => monotonic,
      () => wall,
    );
    const start = clock.now();
    const pass = (monotonicMs: number, wallMs: number): number => {
      monotonic += monotonicMs;
      wall += wallMs;
      return clock.now() - start;
    };
    expect(pass(10, 10)).toBe(10);
    expect(pass(0, 5_000)).toBe(5_010);
    expect(pass(10, -3_600_000)).toBe(5_020);
    expect(pass(0, 2_000)).toBe(7_020);
  });

  it('does not run fast because wall clocks tick in whole milliseconds', () => {
    let now = 0;
    const clock = new SuspendAwareClock(
      () => now,
      () => Math.floor(now),
    );
    for (; now < 1_000; now += 0.1) clock.now();
    expect(clock.now()).toBeLessThan(1_002);
  });
});
