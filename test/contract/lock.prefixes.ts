import { afterEach, beforeEach, expect, it } from '@jest/globals';
import type { RedisGround } from '../support/lock-grounds.js';
import { LockWorld } from '../support/lock-world.js';
import { pass } from '../support/pass.js';
import { ask } from '../support/redis-sentinel.js';

/** Several applications on one Redis. */
export function describePrefixes(ground: () => RedisGround): void {
  let apart: readonly [LockWorld, LockWorld];
  beforeEach(async () => {
    const start = (prefix: string): Promise<LockWorld> =>
      LockWorld.watched(ground().fleetUnder(prefix), ground().fleetUnder(prefix));
    apart = [await start('one:'), await start('two:')];
  });
  afterEach(async () => {
    await Promise.all(apart.map((world) => world.close()));
  });

  it('C4: neither blocks nor wakes who has another prefix', async () => {
    const [[one, mine], [two, theirs]] = [await apart[0].pods(2), await apart[1].pods(2)];
    const [lease, other] = [await one.acquire('k'), await two.acquire('k', { waitMs: 0 })];
    let isServed = false;
    const waiting = mine.withLock('k', {}, () => (isServed = true));
    const waitingThere = theirs.acquire('k');
    await Promise.all(apart.map((world) => world.queued('k', 1)));
    await other.release();
    await (await waitingThere).release();
    await pass(100);
    expect(isServed).toBe(false);
    expect(await theirs.forceRelease('k')).toBe(0);
    lease.assertHeld();
    await lease.release();
    await waiting;
    expect(isServed).toBe(true);
  });

  it('C5: locks and releases by the same names, and lists them without the prefix', async () => {
    const [one] = await apart[0].pods(1);
    const lease = await one.acquire(['order:7', 'k']);
    expect((await one.list()).map(({ key }) => key).sort()).toEqual(['k', 'order:7']);
    expect(await apart[1].busy()).toEqual([]);
    const servers = await ground().redis.masters();
    const names = (await Promise.all(servers.map((server) => ask(server, (redis) => redis.keys('*lk:*'))))).flat();
    const held = names.filter((name) => name.endsWith(':e'));
    expect(held.sort()).toEqual([`${ground().prefix}one:lk:{k}:e`, `${ground().prefix}one:lk:{order:7}:e`]);
    expect(await lease.release()).toBe(true);
    expect(await one.list()).toEqual([]);
  });
}
