import { expect, it, jest } from '@jest/globals';
import { type Lease, LockStoreError } from '../../src/lock/index.js';
import type { FaultScene } from '../support/fault-scene.js';
import { type Pod, told } from '../support/lock-world.js';
import { pass } from '../support/pass.js';
import { sized } from '../support/proof-scale.js';

/** The same promises while Redis itself freezes, forgets, pauses, or loses what it says. */
export function describeLockFaults(scene: () => FaultScene): void {
  it('A1: tells the holder by its own deadline while Redis is frozen', async () => {
    const [one, two] = await scene().world.pods(2);
    const server = await scene().serverOf('k');
    const sentAt = performance.now();
    const lease = await one.acquire('k', { leaseMs: 1_500 });
    server.freeze();
    await told(lease);
    const toldAfterMs = performance.now() - sentAt;
    expect(lease.signal.reason).toMatchObject({ code: 'lock_lost', reason: 'expired' });
    // Nothing else would tell it; a machine that runs other things beside is late.
    expect(toldAfterMs).toBeLessThan(1_500 + sized(5_000, 1_000));
    server.thaw();
    const next = await two.acquire('k', { waitMs: 60_000 });
    expect(next.fence).toBeGreaterThan(lease.fence);
    expect(await lease.release()).toBe(false);
    next.assertHeld();
    await next.release();
  });

  it('A2: tells the holder when Redis has forgotten the lock, and does not make it anew', async () => {
    const [one] = await scene().world.pods(1);
    const lease = await one.acquire('k', { leaseMs: 1_500 });
    await scene().ask('k', (redis) => redis.del(...scene().names('k')));
    await told(lease);
    expect(lease.signal.reason).toMatchObject({ reason: 'gone' });
    expect(await lease.release()).toBe(false);
    expect(await scene().ask('k', (redis) => redis.exists(...scene().names('k').slice(1)))).toBe(0);
  });

  it('A3: survives a pause of Redis that is longer than its commands may take, if the lease is longer', async () => {
    const [one] = await scene().world.pods(1);
    await one.withLock('k', { leaseMs: 3_600 }, async (lease) => {
      await pass(1_000);
      await pauseAll(scene(), 1_200);
      await pass(2_000);
      lease.assertHeld();
      expect(lease.signal.aborted).toBe(false);
    });
  });

  it('A3: makes no unhandled rejection of a pause that outlasts the lease', async () => {
    const [one] = await scene().world.pods(1);
    const lease = await one.acquire('k', { leaseMs: 700 });
    await pauseAll(scene(), 1_200);
    await told(lease);
    expect(await lease.release()).toBe(false);
    await (await one.acquire('k', { waitMs: 20_000 })).release();
  });

  it.each(['cut after', 'cut before', 'silence after', 'silence before'] as const)(
    'A12: goes on when one renewal is lost: %s',
    async (fault) => {
      const [one] = await scene().world.pods(1);
      await one.withLock('k', { leaseMs: 3_600 }, async (lease) => {
        const broken = scene().breakScript('beat', fault);
        await Promise.race(broken.map(({ met }) => met));
        await pass(2_900);
        lease.assertHeld();
      });
    },
  );

  it('B1: hands out no lease that is over when Redis was paused meanwhile', async () => {
    const [one] = await scene().world.pods(1);
    await pauseAll(scene(), 800);
    const lease = await one.acquire('k', { leaseMs: 300, waitMs: 10_000 });
    lease.assertHeld();
    expect(lease.remainingMs()).toBeGreaterThan(0);
    expect(await scene().world.holders('k')).toMatchObject([{ token: lease.token }]);
    await lease.release();
  });

  it.each(['cut after', 'silence after'] as const)(
    'B2: finds its own grant whose reply was lost: %s',
    async (fault) => {
      const [one] = await scene().world.pods(1);
      scene().breakScript('acquire', fault);
      const lease = await one.acquire('k');
      expect(await scene().world.holders('k')).toMatchObject([{ token: lease.token, fence: lease.fence }]);
      expect(await lease.release()).toBe(true);
      expect(await scene().world.busy()).toEqual([]);
    },
  );

  it('B2: frees what was granted to a caller that gave up, once Redis can be reached again', async () => {
    const [one, two] = await scene().world.pods(2);
    const broken = scene().breakScript('acquire', 'silence after');
    const outcome = one.acquire('k', { waitMs: 200 }).catch((error: unknown) => error);
    await Promise.race(broken.map(({ met }) => met));
    await scene().down();
    expect(await outcome).toBeInstanceOf(LockStoreError);
    expect(await scene().world.busy()).toEqual(['k']);
    await scene().up();
    await (await two.acquire('k', { waitMs: 15_000 })).release();
  });

  it('B3: leaves no ghost when Redis was away', async () => {
    const [one] = await scene().world.pods(1);
    await scene().down();
    await expect(one.acquire('k', { waitMs: 300 })).rejects.toBeInstanceOf(LockStoreError);
    await expect(one.tryAcquire('k')).rejects.toMatchObject({ code: 'store_unavailable', isRetryable: true });
    await scene().up();
    await (await one.acquire('other', { waitMs: 20_000 })).release();
    expect(await scene().ask('k', (redis) => redis.exists(...scene().names('k').slice(1)))).toBe(0);
    expect(await scene().world.busy()).toEqual([]);
  });

  it('B4: settles when its connection is destroyed in the midst of a command', async () => {
    const [one] = await scene().world.pods(1);
    const broken = scene().breakScript('acquire', { delayReplyMs: 5_000 });
    const outcome = one.acquire('k', { waitMs: 0 }).catch((error: unknown) => error);
    await Promise.race(broken.map(({ met }) => met));
    for (const proxy of scene().proxies) proxy.cut();
    expect(await outcome).toBeInstanceOf(LockStoreError);
    await scene().world.empty();
  });

  it.each(['waitMs', 'signal'] as const)(
    'B5: gives up at its %s while Redis is paused, and leaves no lock',
    async (how) => {
      const [one] = await scene().world.pods(1);
      await pauseAll(scene(), 1_000);
      const events: unknown[] = [];
      const goesOn = scene()
        .askAll((redis) => redis.ping())
        .then(() => events.push('Redis goes on'));
      const options = how === 'signal' ? { signal: AbortSignal.timeout(100) } : { waitMs: 200 };
      const outcome = one.acquire('k', options).catch((error: unknown) => events.push(error));
      await Promise.all([goesOn, outcome]);
      expect(events).toMatchObject([{ name: how === 'signal' ? 'TimeoutError' : 'LockStoreError' }, 'Redis goes on']);
      await scene().world.empty();
      await (await one.acquire('k', { waitMs: 5_000 })).release();
    },
  );

  it("B12: goes by Redis's time: a process whose clock is wrong takes nothing from others", async () => {
    const [one] = await scene().world.pods(1);
    const lease = await one.acquire('k', { leaseMs: 60_000 });
    const now = Date.now.bind(Date);
    const clock = jest.spyOn(Date, 'now').mockImplementation(() => now() + 15_000);
    try {
      const [two] = await scene().world.pods(1);
      expect(await two.tryAcquire('k')).toBeUndefined();
      await expect(two.acquire('k', { waitMs: 1_000 })).rejects.toMatchObject({ code: 'lock_timeout' });
      expect((await scene().world.holders('k'))[0]?.leaseLeftMs).toBeGreaterThan(40_000);
      lease.assertHeld();
    } finally {
      clock.mockRestore();
    }
    expect(await lease.release()).toBe(true);
  });

  it('C1: finds a grant that was told before SUBSCRIBE arrived', async () => {
    const [one] = await scene().world.pods(1);
    const two = await scene().world.freshPod();
    scene().breakCommand('subscribe', { delayMs: 300 }, 10);
    const lease = await one.acquire('k');
    const waiting = two.locks.acquire('k');
    await scene().world.queued('k', 1);
    await lease.release();
    await servedByOneBeat(two, waiting);
  });

  it('C3: is served without any message, a beat later, or at the end of the lease', async () => {
    const [one] = await scene().world.pods(1);
    const [two, dead] = [await scene().world.pod(), await scene().world.pod()];
    scene().breakMessages('drop');
    const lease = await one.acquire('k');
    const waiting = two.locks.acquire('k');
    await scene().world.queued('k', 1);
    await lease.release();
    await servedByOneBeat(two, waiting);
    const lost = await dead.locks.acquire('l', { leaseMs: 600 });
    dead.wire.die();
    const beats = two.wire.calls.beat;
    const next = await two.locks.acquire('l', { waitMs: 60_000 });
    // One within the lease, one at its end; and one more where they met the end too early.
    expect(two.wire.calls.beat - beats).toBeLessThanOrEqual(3);
    expect([lost.isHeld, next.fence > lost.fence]).toEqual([false, true]);
    await next.release();
  });

  it('D2: releases again when the reply was lost, and the lock is free', async () => {
    const [one, two] = await scene().world.pods(2);
    const lease = await one.acquire('k');
    scene().breakScript('leave', 'cut after');
    expect(await lease.release()).toBe(false);
    expect(await lease.release()).toBe(true);
    await (await two.acquire('k', { waitMs: 5_000 })).release();
  });

  it('D5: rejects with the result when somebody has put something else in place of the lock', async () => {
    const [one] = await scene().world.pods(1);
    const [hash] = scene().names('k');
    const job = one.withLock('k', { leaseMs: 900 }, async (lease) => {
      await scene().ask('k', (redis) => redis.set(hash, 'something else'));
      await told(lease);
      return 'paid';
    });
    await expect(job).rejects.toMatchObject({ code: 'lock_lost', reason: 'expired', result: 'paid' });
    expect(await scene().ask('k', (redis) => redis.get(hash))).toBe('something else');
    await scene().ask('k', (redis) => redis.del(hash));
    await scene().world.empty();
  });

  it('D9: works on while the scripts are flushed over and over', async () => {
    const pods = await scene().world.pods(3);
    const until = performance.now() + sized(1_500, 10_000);
    const fences: number[] = [];
    const flush = async (): Promise<void> => {
      while (performance.now() < until) {
        await scene().askAll((redis) => redis.script('FLUSH'));
        await pass(sized(20, 100));
      }
    };
    const work = pods.map(async (pod) => {
      while (performance.now() < until) await pod.withLock('k', { waitMs: 20_000 }, ({ fence }) => fences.push(fence));
    });
    await Promise.all([flush(), ...work]);
    expect(fences.length).toBeGreaterThan(20);
    expect(fences).toEqual([...new Set(fences)].sort((one, other) => one - other));
  });
}

/** Asserts that a waiter that hears nothing gets a lock that is free, with its next beat. */
async function servedByOneBeat({ wire }: Pod, waiting: Promise<Lease>): Promise<void> {
  const beats = wire.calls.beat;
  const lease = await waiting;
  expect(wire.calls.beat - beats).toBeLessThanOrEqual(1);
  await lease.release();
}

/** Takes no commands for so long; those that were sent are answered after it. */
async function pauseAll(scene: FaultScene, ms: number): Promise<void> {
  await scene.askAll((redis) => redis.call('CLIENT', 'PAUSE', String(ms), 'ALL'));
}
