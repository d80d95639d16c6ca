import { expect, it } from '@jest/globals';
import { LockOptionsError } from '../../src/lock/index.js';
import type { LockWorld } from '../support/lock-world.js';

/** Texts that mean something to Redis, to a cluster, to our own names, or to nobody. */
const NAMES = [
  'order:7',
  'with spaces  in it ',
  '{tag}',
  'a{b}c',
  'a}b{c',
  '{}',
  '{',
  '}',
  '}:e',
  'k}:q',
  'lk:{k}',
  'lk:{k}:e',
  '%',
  '%0041',
  'A',
  '%007B',
  'a|b|c',
  '*',
  '[a-z]?',
  '\\',
  'ключ',
  '鎖🔒',
  'é',
  'e\u0301',
  'line\nbreak\r\n',
  '\u0000zero',
  '\ud800 alone',
  '__proto__',
  'constructor',
  '-1',
  '"quoted" \'too\'',
  "'); DROP TABLE locks; --",
  'x'.repeat(512),
  `${'x'.repeat(511)}y`,
  '🔒'.repeat(256),
] as const;

/** Names are the users' data: none may reach, block or break another. Invariant 8. */
export function describeNaming(world: () => LockWorld): void {
  it('keeps all names apart, whatever they are made of, and gives them back as they were', async () => {
    const [one, two] = await world().pods(2);
    const leases = await Promise.all(NAMES.map((name) => one.acquire(name, { waitMs: 0, description: name })));
    expect([...(await world().busy())].sort()).toEqual([...NAMES].sort());
    for (const name of NAMES) {
      expect(await two.tryAcquire(name)).toBeUndefined();
      expect(await two.inspect(name)).toMatchObject({ key: name, holders: [{ state: 'held' }] });
    }
    expect(await Promise.all(leases.map((lease) => lease.release()))).toEqual(NAMES.map(() => true));
    expect(await world().busy()).toEqual([]);
  });

  it('hands over under every name', async () => {
    const [one, two] = await world().pods(2);
    const leases = await Promise.all(NAMES.map((name) => one.acquire(name)));
    const waits = NAMES.map((name) => two.withLock(name, { waitMs: 20_000 }, ({ key }) => key));
    await Promise.all(NAMES.map((name) => world().queued(name, 1)));
    await Promise.all(leases.map((lease) => lease.release()));
    expect(await Promise.all(waits)).toEqual(NAMES);
  });

  it('tells revocations under every name', async () => {
    const [one, two] = await world().pods(2);
    const leases = await Promise.all(NAMES.map((name) => one.acquire(name, { leaseMs: 1_500 })));
    for (const name of NAMES) expect(await two.forceRelease(name)).toBe(1);
    const reasons = await Promise.all(
      leases.map(async ({ signal }) => {
        if (!signal.aborted) await new Promise((resolve) => (signal.onabort = resolve));
        return signal.reason as unknown;
      }),
    );
    for (const [index, reason] of reasons.entries()) expect(reason).toMatchObject({ key: NAMES[index] });
  });

  it.each(['', '   ', 'order:undefined', 'order:null', 'a/NaN', 'undefined', 'a/null/b'])(
    'refuses %j, which hides a mistake, before it asks the store',
    async (key) => {
      const { locks, wire } = await world().pod();
      await expect(locks.acquire(key)).rejects.toBeInstanceOf(LockOptionsError);
      await expect(locks.acquire(['fine', key])).rejects.toBeInstanceOf(LockOptionsError);
      expect(wire.calls.acquire).toBe(0);
      expect(await world().busy()).toEqual([]);
    },
  );

  it('refuses a name that is too long', async () => {
    const [pod] = await world().pods(1);
    await expect(pod.acquire('x'.repeat(513))).rejects.toThrow('at most 512 characters');
  });

  it('takes names that only look like a missing value', async () => {
    const [pod] = await world().pods(1);
    for (const key of ['nullable', 'order:nullable', 'NaNcy', 'undefined2', '0']) {
      expect(await (await pod.acquire(key)).release()).toBe(true);
    }
  });
}
