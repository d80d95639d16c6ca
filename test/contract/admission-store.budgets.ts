import { afterEach, beforeEach, expect, it } from '@jest/globals';
import type { BudgetRule, ScopeLimits } from '../../src/admission/admission.rules.js';
import { type AdmissionBench, scopeOf, ScopeDriver } from '../support/admission-bench.js';

const DAY: BudgetRule = { unit: 'usd', period: 'day', limit: 100_000 };
const MONTH: BudgetRule = { unit: 'tokens', period: 'month', limit: 1_000 };

/** Money and tokens by the day and the month. */
export function describeBudgets(start: () => Promise<AdmissionBench>): void {
  let bench: AdmissionBench;
  beforeEach(async () => {
    bench = await start();
  });
  afterEach(() => bench.close());

  const drive = (limits: ScopeLimits): ScopeDriver => new ScopeDriver(bench, scopeOf(limits, 'caller:acme'));

  it('admits no more at once than there is money for', async () => {
    const driver = drive({ budgets: [DAY] });
    const ids = Array.from({ length: 16 }, (_, number) => `p${1 + (number % 3)}-${number}`);
    const kinds = await Promise.all(ids.map(async (id) => (await driver.acquire(id, { microUsd: 30_000 })).kind));
    expect(kinds.filter((kind) => kind === 'granted')).toHaveLength(3);
    expect(await driver.acquire('p1-99', { microUsd: 30_000 })).toMatchObject({
      kind: 'refused',
      rule: { kind: 'budget', ...DAY },
      isExact: false,
    });
  });

  it('books what the call cost and gives the rest back', async () => {
    const driver = drive({ budgets: [DAY] });
    await driver.acquire('p1-1', { microUsd: 90_000 });
    expect(await driver.settle('p1-1', 0, 10_000)).toMatchObject({
      kind: 'settled',
      bookings: [{ ...DAY, spentBefore: 0, spentAfter: 10_000 }],
    });
    expect(await driver.inspect()).toMatchObject({ reserved: { microUsd: 0 }, budgets: [{ spent: 10_000 }] });
    expect(await driver.acquire('p1-2', { microUsd: 90_000 })).toMatchObject({ kind: 'granted' });
  });

  it('books a bill above its reservation in full, and refuses the next call until the period ends', async () => {
    const driver = drive({ budgets: [DAY] });
    await driver.acquire('p1-1', { microUsd: 90_000 });
    await driver.settle('p1-1', 0, 130_000);
    const refused = await driver.acquire('p1-2', { microUsd: 1, waitMs: 1_000_000_000 });
    const midnight = Math.ceil(bench.clock.us / 86_400_000_000) * 86_400_000;
    expect(refused).toMatchObject({ kind: 'refused', isExact: true, inMs: midnight - bench.clock.us / 1_000 });
    bench.clock.us = midnight * 1_000 - 1_000;
    expect(await driver.acquire('p1-3', { microUsd: 1 })).toMatchObject({ kind: 'refused', inMs: 1 });
    bench.clock.us += 1_000;
    expect(await driver.acquire('p1-3', { microUsd: 100_000 })).toMatchObject({ kind: 'granted' });
  });

  it('says never to a call that costs more than the whole budget', async () => {
    const driver = drive({ budgets: [DAY] });
    expect(await driver.acquire('p1-1', { microUsd: 100_001 })).toMatchObject({
      kind: 'never',
      rule: { kind: 'budget' },
    });
  });

  it('shows each threshold to one booking only', async () => {
    const driver = drive({ budgets: [DAY] });
    const crossings: string[] = [];
    for (let number = 0; number < 10; number += 1) {
      await driver.acquire(`p1-${number}`, { microUsd: 10_000 });
      const { bookings } = await driver.settle(`p1-${number}`, 0, 10_000);
      for (const { spentBefore, spentAfter, limit } of bookings) {
        for (const share of [0.8, 1])
          if (spentBefore < share * limit && spentAfter >= share * limit) crossings.push(`${number}: ${share}`);
      }
    }
    expect(crossings).toEqual(['7: 0.8', '9: 1']);
  });

  it('keeps days and months apart, by the calendar of UTC', async () => {
    const driver = drive({ budgets: [DAY, MONTH] });
    bench.clock.us = Date.UTC(2028, 1, 29, 23, 59, 59) * 1_000;
    await driver.acquire('p1-1', { microUsd: 60_000, tokens: 900 });
    await driver.settle('p1-1', 900, 60_000);
    expect(await driver.acquire('p1-2', { tokens: 200 })).toMatchObject({
      kind: 'refused',
      rule: { ...MONTH },
      inMs: 1_000,
    });
    driver.pass(1_000);
    expect((await driver.inspect()).budgets).toMatchObject([
      { ...DAY, spent: 0, endsAtMs: Date.UTC(2028, 2, 2) },
      { ...MONTH, spent: 0, endsAtMs: Date.UTC(2028, 3, 1) },
    ]);
    await driver.acquire('p1-3', { tokens: 900, microUsd: 60_000 });
    await driver.settle('p1-3', 900, 60_000);
    bench.clock.us = Date.UTC(2028, 2, 31, 12) * 1_000;
    expect((await driver.inspect()).budgets).toMatchObject([{ spent: 0 }, { spent: 900 }]);
    bench.clock.us = Date.UTC(2028, 11, 31, 12) * 1_000;
    await driver.acquire('p1-4', { tokens: 900 });
    await driver.settle('p1-4', 900);
    bench.clock.us = Date.UTC(2029, 0, 1) * 1_000;
    expect((await driver.inspect()).budgets).toMatchObject([
      { spent: 0 },
      { spent: 0, endsAtMs: Date.UTC(2029, 1, 1) },
    ]);
  });

  it('carries what is open over midnight, and books it in the period of its end', async () => {
    const driver = drive({ budgets: [DAY] });
    bench.clock.us = Date.UTC(2028, 4, 5, 23, 59, 59) * 1_000;
    await driver.acquire('p1-1', { microUsd: 60_000 });
    driver.pass(2_000);
    expect(await driver.acquire('p1-2', { microUsd: 60_000 })).toMatchObject({ kind: 'refused' });
    expect((await driver.settle('p1-1', 0, 50_000)).bookings).toMatchObject([{ spentBefore: 0, spentAfter: 50_000 }]);
  });

  it('reserves for waiters, too, and gives it back where they leave', async () => {
    const driver = drive({ budgets: [DAY], concurrency: 1 });
    await driver.acquire('p1-1', { microUsd: 10_000 });
    await driver.acquire('p1-2', { microUsd: 80_000, waitMs: 60_000 });
    expect(await driver.acquire('p1-3', { microUsd: 20_000, waitMs: 60_000 })).toMatchObject({
      kind: 'refused',
      rule: { kind: 'budget' },
    });
    await driver.cancel('p1-2');
    expect(await driver.inspect()).toMatchObject({ reserved: { microUsd: 10_000 } });
    expect(await driver.acquire('p1-3', { microUsd: 20_000, waitMs: 60_000 })).toMatchObject({ kind: 'waiting' });
  });

  it('books what a dead process had reserved as it was estimated, and tells whoever finds it', async () => {
    const driver = drive({ budgets: [DAY] });
    await driver.acquire('p1-1', { microUsd: 70_000 });
    driver.pass(9_000);
    const answer = await driver.acquire('p2-1', { microUsd: 10_000 });
    expect(answer).toMatchObject({ kind: 'granted', bookings: [{ spentBefore: 0, spentAfter: 70_000 }] });
    expect(await driver.settle('p1-1', 0, 10_000)).toMatchObject({ kind: 'gone', bookings: [] });
    expect(await driver.inspect()).toMatchObject({ reserved: { microUsd: 10_000 }, budgets: [{ spent: 70_000 }] });
  });

  it('keeps large sums to the micro-dollar', async () => {
    const limit = Number.MAX_SAFE_INTEGER;
    const driver = drive({ budgets: [{ unit: 'usd', period: 'month', limit }] });
    for (const [id, microUsd] of [
      ['p1-1', limit - 3],
      ['p1-2', 2],
    ] as const) {
      await driver.acquire(id, { microUsd });
      await driver.settle(id, 0, microUsd);
    }
    expect((await driver.inspect()).budgets).toMatchObject([{ spent: limit - 1 }]);
    expect(await driver.acquire('p1-3', { microUsd: 2 })).toMatchObject({ kind: 'refused' });
    expect(await driver.acquire('p1-4', { microUsd: 1 })).toMatchObject({ kind: 'granted' });
  });
}
