import { describe, expect, it } from '@jest/globals';
import { currentLease, LockOptionsError, type LockMode, type LockService } from '../../src/lock/index.js';
import type { LockWorld } from '../support/lock-world.js';
import { pass } from '../support/pass.js';

/** One primitive for all modes, and the chain of calls. */
export function describeModes(world: () => LockWorld): void {
  it('shared: lets readers in together, a writer only alone, and no reader past a writer who waits', async () => {
    const [one, two, three] = await world().pods(3);
    const readers = [await one.acquire('k', { mode: 'shared' }), await two.acquire('k', { mode: 'shared' })];
    expect(await three.tryAcquire('k')).toBeUndefined();
    const order: string[] = [];
    const writer = three.withLock('k', {}, () => order.push('writer'));
    await world().queued('k', 1);
    expect(await one.tryAcquire('k', { mode: 'shared' })).toBeUndefined();
    const late = [one, two].map((pod) => pod.withLock('k', { mode: 'shared' }, () => order.push('reader')));
    await world().queued('k', 3);
    for (const reader of readers) await reader.release();
    await Promise.all([writer, ...late]);
    expect(order).toEqual(['writer', 'reader', 'reader']);
  });

  it('shared and exclusive: no writer is ever beside anybody, under load', async () => {
    const pods = await world().pods(3);
    let readers = 0;
    let writers = 0;
    let together = 0;
    const visit = async (pod: LockService, index: number): Promise<void> => {
      const mode = index % 4 === 0 ? 'exclusive' : 'shared';
      await pod.withLock('k', { mode, waitMs: 60_000 }, async () => {
        if (mode === 'shared') readers += 1;
        else writers += 1;
        expect(writers).toBeLessThanOrEqual(1);
        expect(writers === 0 || readers === 0).toBe(true);
        together = Math.max(together, readers);
        await pass(2);
        if (mode === 'shared') readers -= 1;
        else writers -= 1;
      });
    };
    const visits = Array.from({ length: world().time.size(60, 600) }, (_, index) => {
      const pod = pods[index % 3];
      return pod === undefined ? Promise.resolve() : visit(pod, index);
    });
    await Promise.all(visits);
    expect(together).toBeGreaterThan(1);
  });

  it('permits(n): gives out n and no more, to whom they come next', async () => {
    const pods = await world().pods(3);
    let inside = 0;
    let most = 0;
    const visit = async (pod: LockService): Promise<void> => {
      await pod.withLock('k', { mode: { permits: 3 }, waitMs: 60_000 }, async () => {
        inside += 1;
        most = Math.max(most, inside);
        await pass(3);
        inside -= 1;
      });
    };
    await Promise.all(
      Array.from({ length: world().time.size(30, 600) }, (_, index) => visit(pods[index % 3] ?? pods[0])),
    );
    expect(most).toBe(3);
  });

  it('permits(n): the smaller number counts while grants of it live, and the own one after', async () => {
    const [one, two] = await world().pods(2);
    const first = await one.acquire('k', { mode: { permits: 3 } });
    const second = await two.acquire('k', { mode: { permits: 2 } });
    expect(await two.tryAcquire('k', { mode: { permits: 9 } })).toBeUndefined();
    await first.release();
    const third = await one.acquire('k', { mode: { permits: 9 }, waitMs: 0 });
    expect(await one.tryAcquire('k', { mode: { permits: 9 } })).toBeUndefined();
    await Promise.all([second.release(), third.release()]);
    const wide = await Promise.all([1, 2, 3].map(() => one.acquire('k', { mode: { permits: 3 }, waitMs: 0 })));
    await Promise.all(wide.map((lease) => lease.release()));
  });

  it.each([
    ['is refused', 0],
    ['waits and gives up', 300],
  ])('permits(n): who wants fewer and %s takes none from the others', async (_, waitMs) => {
    const [one, two] = await world().pods(2);
    const held = await Promise.all([1, 2].map(() => one.acquire('k', { mode: { permits: 4 } })));
    await expect(two.acquire('k', { mode: { permits: 1 }, waitMs })).rejects.toMatchObject({ isRetryable: true });
    const more = await Promise.all([1, 2].map(() => two.acquire('k', { mode: { permits: 4 } })));
    expect(await two.tryAcquire('k', { mode: { permits: 4 } })).toBeUndefined();
    await Promise.all([...held, ...more].map((lease) => lease.release()));
  });

  it.each<readonly [LockMode, LockMode]>([
    ['exclusive', { permits: 5 }],
    [{ permits: 5 }, 'exclusive'],
    ['exclusive', 'shared'],
    ['shared', 'exclusive'],
  ])('an exclusive holder is always alone: %j, then %j', async (mode, other) => {
    const [one, two] = await world().pods(2);
    const lease = await one.acquire('k', { mode });
    expect(await two.tryAcquire('k', { mode: other })).toBeUndefined();
    await lease.release();
  });

  describe('the chain of calls', () => {
    it('gets again at once what it holds, and releases it with the last', async () => {
      const [one, two] = await world().pods(2);
      await one.withLock('k', {}, async (outer) => {
        await one.withLock(['k', 'l'], { mode: 'shared', waitMs: 0 }, async (inner) => {
          expect(inner.fenceOf('k')).toBe(outer.fence);
          expect(currentLease()).toBe(inner);
          await Promise.all([1, 2].map(() => one.withLock('k', { waitMs: 0 }, () => pass(1))));
        });
        expect(currentLease()).toBe(outer);
        outer.assertHeld();
        expect(await two.tryAcquire('k')).toBeUndefined();
      });
      expect(currentLease()).toBeUndefined();
      expect(await world().busy()).toEqual([]);
    });

    it('does not deadlock where a method under a lock waits for another under the same', async () => {
      const [pod] = await world().pods(1);
      const depth = async (left: number): Promise<number> =>
        left === 0 ? 0 : pod.withLock('k', { waitMs: 1_000 }, async () => 1 + (await depth(left - 1)));
      expect(await depth(50)).toBe(50);
    });

    it('refuses more than the chain holds, which it would wait for without end', async () => {
      const [pod] = await world().pods(1);
      const upgrade = pod.withLock('k', { mode: 'shared' }, () => pod.withLock('k', {}, () => undefined));
      await expect(upgrade).rejects.toBeInstanceOf(LockOptionsError);
      await expect(upgrade).rejects.toThrow('held as shared');
    });

    it('refuses fewer permits than the chain holds, and gives as many or more', async () => {
      const [pod] = await world().pods(1);
      const nest = (permits: number) =>
        pod.withLock('k', { mode: { permits: 5 } }, () => pod.withLock('k', { mode: { permits } }, () => 'inside'));
      await expect(nest(1)).rejects.toThrow(
        "held as permits: 5 by this chain of calls and can't be taken as permits: 1",
      );
      await expect(nest(1)).rejects.toBeInstanceOf(LockOptionsError);
      expect([await nest(5), await nest(6)]).toEqual(['inside', 'inside']);
    });

    it('goes with the process only: another pod, or the same key elsewhere, is somebody else', async () => {
      const [one, two] = await world().pods(2);
      await one.withLock('k', {}, async () => {
        expect(await two.tryAcquire('k')).toBeUndefined();
      });
    });

    it('gives work that was left behind no part in a lease that is over', async () => {
      const [one, two] = await world().pods(2);
      let goOn: () => void = () => undefined;
      const gate = new Promise<void>((resolve) => (goOn = resolve));
      let detached: Promise<unknown> = Promise.resolve();
      await one.withLock('k', {}, () => {
        detached = gate.then(async () => [currentLease(), await one.tryAcquire('k')]);
      });
      const lease = await two.acquire('k');
      goOn();
      expect(await detached).toEqual([undefined, undefined]);
      await lease.release();
    });

    it('does not hold for what acquire() gave: that is passed on by hand', async () => {
      const [pod] = await world().pods(1);
      const lease = await pod.acquire('k');
      expect(currentLease()).toBeUndefined();
      expect(await pod.tryAcquire('k')).toBeUndefined();
      await lease.release();
    });
  });
}
