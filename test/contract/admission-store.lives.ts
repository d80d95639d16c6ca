import { afterEach, beforeEach, expect, it } from '@jest/globals';
import type { ScopeLimits } from '../../src/admission/admission.rules.js';
import { type AdmissionBench, scopeOf, ScopeDriver } from '../support/admission-bench.js';

/** Leases, signs of life, and commands that are sent twice or late. */
export function describeLives(start: () => Promise<AdmissionBench>): void {
  let bench: AdmissionBench;
  beforeEach(async () => {
    bench = await start();
  });
  afterEach(() => bench.close());

  const drive = (limits: ScopeLimits, name?: string): ScopeDriver => new ScopeDriver(bench, scopeOf(limits, name));
  const waiting = { waitMs: 60_000 };

  it('gives the slots and reservations of a dead process back within ten seconds', async () => {
    const driver = drive({ concurrency: 2, windows: [{ windowMs: 60_000, tokens: 1_000 }] });
    await driver.acquire('p1-1', { tokens: 100 });
    await driver.acquire('p1-2', { tokens: 100 });
    await driver.acquire('p1-3', { ...waiting, tokens: 100 });
    const alive = await driver.acquire('p2-1', { ...waiting, tokens: 100, flow: 'b' });
    driver.pass(3_000);
    await driver.beat(['p1-1', 'p1-2', 'p1-3']);
    driver.pass(6_000);
    await driver.beat(['p2-1']);
    driver.pass(3_000);
    // Nobody needs to ask but the process that pumps.
    expect(alive.nowMs + 12_000).toBe(bench.clock.us / 1_000);
    expect((await driver.beat(['p2-1'])).places).toMatchObject([{ kind: 'granted' }]);
    expect(await driver.inspect()).toMatchObject({ open: 1, queued: 0, reserved: { tokens: 100 } });
  });

  it('has whoever pumps come when the first lease ends that stands in the way', async () => {
    const driver = drive({ concurrency: 1 });
    await driver.acquire('p1-1');
    expect(await driver.acquire('p2-1', { ...waiting, leaseMs: 30_000 })).toMatchObject({ pumpInMs: 9_000 });
    driver.pass(9_000);
    expect((await driver.beat([], 'p2')).notices).toMatchObject([{ kind: 'granted', id: 'p2-1' }]);
  });

  it('keeps what gives signs of life, for its own lease', async () => {
    const driver = drive({ concurrency: 1 });
    await driver.acquire('p1-1');
    for (let round = 0; round < 5; round += 1) {
      driver.pass(8_999);
      expect((await driver.beat(['p1-1'])).places).toMatchObject([{ kind: 'granted' }]);
    }
    expect(await driver.settle('p1-1')).toMatchObject({ kind: 'settled' });
  });

  it('keeps a strict slot for its whole lease without a sign of life', async () => {
    const driver = drive({ concurrency: 1 });
    await driver.acquire('p1-1', { leaseMs: 120_000 });
    driver.pass(119_999);
    expect(await driver.acquire('p2-1')).toMatchObject({ kind: 'refused', rule: { kind: 'slots' } });
    driver.pass(1);
    expect(await driver.acquire('p2-1')).toMatchObject({ kind: 'granted' });
  });

  it('says of each id where it is', async () => {
    const driver = drive({ concurrency: 1 });
    const { nowMs } = await driver.acquire('p1-1');
    await driver.acquire('p1-2', waiting);
    const { places } = await driver.beat(['p1-1', 'p1-2', 'p1-3']);
    expect(places).toEqual([{ kind: 'granted', atMs: nowMs }, { kind: 'waiting' }, { kind: 'gone' }]);
  });

  it('finds itself where an acquire is repeated: granted at the same time, or waiting', async () => {
    const driver = drive({ concurrency: 1, windows: [{ windowMs: 60_000, requests: 5 }] });
    const first = await driver.acquire('p1-1');
    const queued = await driver.acquire('p1-2', waiting);
    driver.pass(500);
    const atMs = first.kind === 'granted' ? first.atMs : 0;
    expect(await driver.acquire('p1-1')).toMatchObject({ kind: 'granted', atMs });
    expect(await driver.acquire('p1-2', waiting)).toMatchObject({ kind: queued.kind, rule: { kind: 'slots' } });
    expect(await driver.inspect()).toMatchObject({ open: 1, queued: 1, windows: [{ requests: 1 }] });
  });

  it('settles once, and nothing that was never granted', async () => {
    const driver = drive({ concurrency: 1, budgets: [{ unit: 'usd', period: 'day', limit: 1_000 }] });
    await driver.acquire('p1-1', { microUsd: 10 });
    await driver.acquire('p1-2', { ...waiting, microUsd: 10 });
    expect(await driver.settle('p1-2', 0, 10)).toMatchObject({ kind: 'waiting', bookings: [] });
    expect(await driver.settle('p1-1', 0, 10)).toMatchObject({ kind: 'settled' });
    expect(await driver.settle('p1-1', 0, 10)).toMatchObject({ kind: 'gone', bookings: [] });
    expect(await driver.settle('p9-9', 0, 10)).toMatchObject({ kind: 'gone', bookings: [] });
    expect(await driver.inspect()).toMatchObject({ open: 1, budgets: [{ spent: 10 }] });
  });

  it('undoes once, and refuses an acquire that comes after its cancel', async () => {
    const driver = drive({ concurrency: 1 });
    expect(await driver.cancel('p1-1')).toMatchObject({ kind: 'unknown' });
    expect(await driver.acquire('p1-1', waiting)).toMatchObject({ kind: 'cancelled' });
    await driver.acquire('p1-2');
    await driver.acquire('p1-3', waiting);
    expect(await driver.cancel('p1-3')).toMatchObject({ kind: 'waiting' });
    expect(await driver.cancel('p1-2')).toMatchObject({ kind: 'granted' });
    expect(await driver.cancel('p1-2')).toMatchObject({ kind: 'unknown' });
    expect(await driver.inspect()).toMatchObject({ open: 0, queued: 0 });
    expect((await driver.beat(['p1-2'])).places).toEqual([{ kind: 'gone' }]);
  });

  it('keeps scopes apart, also for the same id, and whatever their names and flows hold', async () => {
    const names = ['a{b}:c', 'a', '{a}', 'a|b%é\n*\ud800"', 'x'.repeat(400)];
    const drivers = names.map((name) => drive({ concurrency: 1 }, name));
    for (const [index, driver] of drivers.entries()) {
      expect(await driver.acquire('p1-1', { flow: names[index] ?? '' })).toMatchObject({ kind: 'granted' });
      expect(await driver.acquire('p2-1', { ...waiting, flow: names.at(-1 - index) ?? '' })).toMatchObject({
        kind: 'waiting',
      });
    }
    for (const driver of drivers) await driver.settle('p1-1');
    // Scopes may lie on different masters, and what those tell comes in any order.
    const told = (await bench.heard()).map(([, { scope, notices }]) => [scope, notices[0]?.id].join());
    expect(told.toSorted()).toEqual(names.map((name) => `${name},p2-1`).toSorted());
  });

  it.each(['', 'a b', 'a|b', 'a=b', 'a,b', 'ä', 'x'.repeat(65)])(
    'refuses the id %j, which messages cannot carry',
    async (id) => {
      const common = { ...{ scope: scopeOf({ concurrency: 1 }), process: 'p1', seen: false }, id };
      const wish = { flow: 'f', weight: 1, tokens: 0, microUsd: 0, waitMs: 0, leaseMs: 9_000 };
      const { store } = bench;
      await expect(async () => store.acquire({ ...common, ...wish })).rejects.toThrow(RangeError);
      await expect(async () => store.acquire({ ...common, ...wish, id: 'a', process: id })).rejects.toThrow(RangeError);
    },
  );

  it('is at rest once all is over: nothing open, reserved or in use', async () => {
    const driver = drive({ concurrency: 3, windows: [{ windowMs: 2_000, requests: 5, tokens: 900, guardMs: 20 }] });
    for (let number = 0; number < 30; number += 1) {
      await driver.acquire(`p1-${number}`, { waitMs: 4_000, tokens: 100 + number, flow: `f${number % 4}` });
      if (number % 3 === 0) await driver.settle(`p1-${number - 3}`, 50);
      if (number % 5 === 0) await driver.cancel(`p1-${number - 1}`);
      driver.pass(150);
    }
    driver.pass(60_000);
    await driver.inspect();
    driver.pass(60_000);
    expect(await driver.inspect()).toMatchObject({
      ...{ open: 0, queued: 0, reserved: { microUsd: 0, tokens: 0 } },
      windows: [{ requests: 0, tokens: 0 }],
    });
  });
}
