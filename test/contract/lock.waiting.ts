import { expect, it } from '@jest/globals';
import { type Lease, type LockService, LockStoreError } from '../../src/lock/index.js';
import { eventually } from '../support/eventually.js';
import { recordFigures } from '../support/figures.js';
import { type LockWorld, type Pod, told } from '../support/lock-world.js';
import { pass } from '../support/pass.js';

/** What a dead waiter costs the next one at most: its grant, and a beat. */
const GRACE_MS = 2_000;
const BEAT_MS = 500;
/** After so long a waiter counts as dead. */
const SILENCE_MS = 2_000;

/** Who is next, and how it learns of it. Rows C and F of the cases, B11, and invariant 3. */
export function describeWaiting(world: () => LockWorld): void {
  /**
   * Asserts that a waiter that hears nothing is served within this time: so many beats bring its grant, and one for each lease whose
   * end it was told, or that was on its way before.
   */
  const served = async ({ wire }: Pod, waiting: Promise<Lease>, ms: number): Promise<void> => {
    const [startedAt, beats] = [performance.now(), wire.calls.beat];
    const lease = await waiting;
    world().time.expectAtMost(ms, startedAt);
    expect(wire.calls.beat - beats).toBeLessThanOrEqual(Math.ceil(ms / BEAT_MS) + Math.ceil(ms / GRACE_MS));
    await lease.release();
  };

  /** Waits one after the other, so that their order is known. */
  const enqueue = async (pods: readonly LockService[], count: number, order: number[]): Promise<Promise<void>[]> => {
    const waits: Promise<void>[] = [];
    for (let number = 0; number < count; number += 1) {
      const pod = pods[number % pods.length];
      if (pod === undefined) throw new Error('no pod');
      waits.push(
        pod.withLock('k', { waitMs: 60_000 }, async () => {
          order.push(number);
          await pass(1);
        }),
      );
      await world().queued('k', number + 1);
    }
    return waits;
  };

  it('B11 and invariant 3: serves all in the order in which they came, over all pods', async () => {
    const pods = await world().pods(4);
    const count = world().time.size(20, 200);
    const first = await pods[0]?.acquire('k');
    const order: number[] = [];
    const waits = await enqueue(pods, count, order);
    const startedAt = performance.now();
    await first?.release();
    await Promise.all(waits);
    expect(order).toEqual(Array.from({ length: count }, (_, number) => number));
    recordFigures('lock contract', { [`ms to serve ${count} waiters`]: Math.round(performance.now() - startedAt) });
  });

  it('C1: finds a grant that was told before its process could hear', async () => {
    const [one, two] = [await world().pod(), await world().freshPod()];
    const lease = await one.locks.acquire('k');
    two.wire.holdSubscribing();
    const waiting = two.locks.acquire('k');
    await world().queued('k', 1);
    await lease.release();
    await served(two, waiting, BEAT_MS);
  });

  it('C1: asks again as soon as its process hears', async () => {
    const [one, two] = [await world().pod(), await world().freshPod()];
    two.wire.holdSubscribing();
    const revoked = await two.locks.acquire('r');
    expect(await one.locks.forceRelease('r')).toBe(1);
    revoked.assertHeld();
    two.wire.heal();
    await told(revoked);
    expect(revoked.signal.reason).toMatchObject({ reason: 'revoked' });
    expect(two.wire.calls.beat).toBe(1);
  });

  it('C2: keeps nothing of keys that were waited for and left', async () => {
    const [one, two] = await world().pods(2);
    const keys = Array.from({ length: world().time.size(200, 1_000) }, (_, index) => `key:${index}:${Math.random()}`);
    const idle = world().time.timers();
    for (let start = 0; start < keys.length; start += 50) {
      await Promise.all(keys.slice(start, start + 50).map((key, index) => takeAndLeave(one, two, { key, index })));
    }
    await world().empty();
    await eventually(() => world().time.timers() <= idle);
  });

  it('C3: is served without any message, at most one beat later', async () => {
    const [one, two] = [await world().pod(), await world().pod()];
    two.wire.hears = 'nothing';
    const lease = await one.locks.acquire('k');
    const waiting = two.locks.acquire('k');
    await world().queued('k', 1);
    await lease.release();
    await served(two, waiting, BEAT_MS);
  });

  it('C3 and D8: is served without any message when the holder dies, at the end of its lease', async () => {
    const [one, two] = [await world().pod(), await world().pod()];
    two.wire.hears = 'nothing';
    const lease = await one.locks.acquire('k', { leaseMs: 500 });
    const waiting = two.locks.acquire('k');
    await world().queued('k', 1);
    one.wire.die();
    await served(two, waiting, 500);
    expect(lease.isHeld).toBe(false);
    expect(lease.isHeld).toBe(false);
  });

  it('takes messages that come twice, late, or out of order, for what they are', async () => {
    const [one, two, three] = [await world().pod(), await world().pod(), await world().pod()];
    two.wire.hears = 'everything twice';
    three.wire.hears = { afterMs: 300 };
    const fences: number[] = [];
    const visit = async (locks: LockService): Promise<void> => {
      for (let round = 0; round < 3; round += 1) {
        await locks.withLock('k', { waitMs: 60_000 }, (lease) => {
          lease.assertHeld();
          fences.push(lease.fence);
        });
      }
    };
    await Promise.all([one, two, three].map(({ locks }) => visit(locks)));
    expect(fences).toHaveLength(9);
    expect(fences).toEqual([...new Set(fences)].sort((left, right) => left - right));
    await world().empty();
  });

  it('F1: keeps the place of a waiter that was silent for longer than a dead one may be', async () => {
    const [one, two, three] = [await world().pod(), await world().pod(), await world().pod()];
    const lease = await one.locks.acquire('k');
    const order: string[] = [];
    const first = two.locks.withLock('k', { waitMs: 60_000 }, () => order.push('the silent one'));
    await world().queued('k', 1);
    const second = three.locks.withLock('k', { waitMs: 60_000 }, () => order.push('who came after it'));
    await world().queued('k', 2);
    two.wire.always('unsent', 'beat');
    await pass(SILENCE_MS);
    const beats = two.wire.calls.beat;
    two.wire.heal();
    await eventually(() => two.wire.calls.beat > beats);
    await world().queued('k', 2);
    await pass(200);
    await lease.release();
    await Promise.all([first, second]);
    expect(order).toEqual(['the silent one', 'who came after it']);
  });

  it('F1: lets a waiter in that was passed by while it was silent, before those who came after it', async () => {
    const [one, two, three] = [await world().pod(), await world().pod(), await world().pod()];
    const lease = await one.locks.acquire('k');
    const order: string[] = [];
    const silent = two.locks.withLock('k', { waitMs: 60_000 }, () => order.push('the silent one'));
    await world().queued('k', 1);
    const second = three.locks.withLock('k', { waitMs: 60_000 }, async () => {
      order.push('the next one');
      two.wire.heal();
      await world().queued('k', 2);
    });
    await world().queued('k', 2);
    const third = one.locks.withLock('k', { waitMs: 60_000 }, () => order.push('the last one'));
    await world().queued('k', 3);
    two.wire.always('unsent', 'beat', 'acquire');
    two.wire.hears = 'nothing';
    await pass(SILENCE_MS);
    await lease.release();
    await Promise.all([silent, second, third]);
    expect(order).toEqual(['the next one', 'the silent one', 'the last one']);
  });

  it('F2: passes a dead waiter by, at the cost of its grace at most', async () => {
    const [one, two, three] = [await world().pod(), await world().pod(), await world().pod()];
    const lease = await one.locks.acquire('k');
    const dead = two.locks.acquire('k', { waitMs: 2_000 }).catch((error: unknown) => error);
    await world().queued('k', 1);
    const waiting = three.locks.acquire('k', { waitMs: 30_000 });
    await world().queued('k', 2);
    two.wire.die();
    await lease.release();
    await served(three, waiting, GRACE_MS + BEAT_MS);
    expect(await dead).toBeInstanceOf(LockStoreError);
  });

  it('F4: lets newcomers in after all were killed, holders and waiters', async () => {
    const dead = await Promise.all([world().pod(), world().pod(), world().pod()]);
    await dead[0].locks.acquire('k', { leaseMs: 300 });
    const waits = dead.slice(1).map(({ locks }) => locks.acquire('k', { waitMs: 2_000 }).catch(() => 'dead'));
    await world().queued('k', 2);
    for (const { wire } of dead) wire.die();
    const newcomer = await world().pod();
    await served(newcomer, newcomer.locks.acquire('k', { waitMs: 30_000 }), 300 + GRACE_MS + BEAT_MS);
    expect(await Promise.all(waits)).toEqual(['dead', 'dead']);
  });

  it('F5: passes a grant on whose waiter left at that moment', async () => {
    const [one, two, three] = await world().pods(3);
    const rounds = world().time.size(100, 1_000);
    let granted = 0;
    for (let round = 0; round < rounds; round += 1) {
      const abort = new AbortController();
      const lease = await one.acquire('k');
      const waiting = two.acquire('k', { signal: abort.signal, waitMs: 60_000 }).catch(() => undefined);
      await world().queued('k', 1);
      const leaves = async (): Promise<void> => {
        for (let turn = Math.random() * 20; turn > 1; turn -= 1) await new Promise(setImmediate);
        abort.abort();
      };
      const [mine] = await Promise.all([waiting, lease.release(), leaves()]);
      if (mine !== undefined) granted += 1;
      await mine?.release();
      // An unused grant would keep it for two seconds.
      await (await three.acquire('k', { waitMs: 1_800 })).release();
    }
    recordFigures('lock contract', { 'cancels at the instant of release': rounds, 'of them granted': granted });
  });

  /** One in three waiters is served, one cancels, one comes too late. */
  async function takeAndLeave(
    holder: LockService,
    waiter: LockService,
    { key, index }: { key: string; index: number },
  ): Promise<void> {
    const lease = await holder.acquire(key);
    const abort = new AbortController();
    const waitMs = index % 3 === 1 ? 20 : 60_000;
    const waiting = waiter.acquire(key, { waitMs, signal: abort.signal }).catch((): undefined => undefined);
    if (index % 3 === 2) abort.abort();
    if (index % 3 > 0) await waiting;
    await lease.release();
    const next: Lease | undefined = await waiting;
    await next?.release();
  }
}
