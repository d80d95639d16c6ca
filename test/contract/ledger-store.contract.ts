import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { addSums, NO_SUMS, type Sums, sumsOf } from '../../src/ai/ledger/ledger.sums.js';
import type { LedgerEntry } from '../../src/ai/ledger/ledger.entry.js';
import { BENCH_LIMITS, DAY_MS, ledgerEntry, type LedgerBench, NOON_MS, refusedEntry } from '../support/ledger-bench.js';

const ALL = { from: 0, to: Number.POSITIVE_INFINITY, limit: 1_000 };
const [DAY, MONTH] = ['2026-11-29', '2026-11'];

/** What every LedgerStore does, in a time that the test sets. */
export function describeLedgerStore(name: string, start: () => Promise<LedgerBench>): void {
  let bench: LedgerBench;
  beforeEach(async () => {
    bench = await start();
  });
  afterEach(() => bench.close());

  const idsOf = async (caller = 'acme', question = {}): Promise<string[]> =>
    (await bench.store.page(caller, { ...ALL, ...question })).entries.map(({ callId }) => callId);
  const sumsFor = async (model: string, period: string): Promise<Sums | undefined> =>
    (await bench.store.sums('acme', [period]))[0]?.get(model);

  describe(`${name}, the log`, () => {
    it('gives back what was booked, in that order, under ids that rise', async () => {
      const entries = [
        ledgerEntry({ at: NOON_MS - 500, end: 'partial', code: 'client_gone', isEstimated: true, reasoningTokens: 1 }),
        refusedEntry({ requested: 'an | odd {name}: ☃' }),
        ledgerEntry({ at: NOON_MS - 900, end: 'hit', costNanoUsd: 0, idempotencyKeyHash: 'ab12', attempts: 0 }),
      ];
      expect(await bench.store.book('acme', entries)).toBe(3);
      const { entries: found, next } = await bench.store.page('acme', ALL);
      expect(found.map(({ id, ...entry }) => entry)).toEqual(entries);
      expect(found.map(({ id }) => id)).toEqual([`${NOON_MS}-0`, `${NOON_MS}-1`, `${NOON_MS}-2`]);
      expect(next).toBeUndefined();
    });

    it('leaves out what a call does not have, so that it is no empty text', async () => {
      const { costNanoUsd, ...unpriced } = ledgerEntry();
      await bench.store.book('acme', [unpriced]);
      const [found] = (await bench.store.page('acme', ALL)).entries;
      expect(found).not.toHaveProperty('costNanoUsd');
      expect(found).not.toHaveProperty('code');
    });

    it('never goes back in its ids, where the clock does', async () => {
      await bench.store.book('acme', [ledgerEntry()]);
      bench.clock.us -= 60_000_000;
      await bench.store.book('acme', [ledgerEntry()]);
      const { entries } = await bench.store.page('acme', ALL);
      expect(entries.map(({ id }) => id)).toEqual([`${NOON_MS}-0`, `${NOON_MS}-1`]);
    });

    it('is read on from an id, also from one whose entry is gone', async () => {
      const entries = Array.from({ length: 7 }, () => ledgerEntry());
      await bench.store.book('acme', entries.slice(0, 4));
      bench.clock.us += 1_000;
      await bench.store.book('acme', entries.slice(4));
      const first = await bench.store.page('acme', { ...ALL, limit: 3 });
      expect(first.next).toBe(`${NOON_MS}-2`);
      const rest = await bench.store.page('acme', { ...ALL, after: `${NOON_MS}-2` });
      expect([...first.entries, ...rest.entries].map(({ callId }) => callId)).toEqual(entries.map((e) => e.callId));
      expect(await idsOf('acme', { after: `${NOON_MS}-9007199254740993` })).toHaveLength(3);
      expect(await idsOf('acme', { after: `${NOON_MS + 1}-2` })).toEqual([]);
    });

    it('is asked by when calls ended, not by when they were booked', async () => {
      const [early, within, late] = [NOON_MS - 300_000, NOON_MS - 200_000, NOON_MS - 100_000].map((at) =>
        ledgerEntry({ at }),
      );
      await bench.store.book(
        'acme',
        [late, early, within].filter((entry) => entry !== undefined),
      );
      expect(await idsOf('acme', { from: NOON_MS - 200_000, to: NOON_MS - 100_000 })).toEqual([within?.callId]);
      expect(await idsOf('acme', { from: NOON_MS - 100_000 })).toEqual([late?.callId]);
      expect(await idsOf('acme', { to: NOON_MS - 200_000 })).toEqual([early?.callId]);
    });

    it('goes on behind a page of which nothing was asked for', async () => {
      const other = Array.from({ length: 5 }, () => ledgerEntry({ at: NOON_MS - 50_000 }));
      await bench.store.book('acme', [...other, ledgerEntry()]);
      const page = await bench.store.page('acme', { ...ALL, from: NOON_MS, limit: 5 });
      expect(page).toEqual({ entries: [], next: `${NOON_MS}-4` });
    });

    it('is each caller’s own, whatever the callers are called', async () => {
      for (const caller of ['acme', 'acm', '{acme}', 'a:b|c', '']) {
        await bench.store.book(caller, [ledgerEntry({ callId: `of ${caller}` })]);
      }
      for (const caller of ['acme', 'acm', '{acme}', 'a:b|c', ''])
        expect(await idsOf(caller)).toEqual([`of ${caller}`]);
      expect(await idsOf('nobody')).toEqual([]);
    });

    it('is kept for its time, and no longer', async () => {
      await bench.store.book('acme', [ledgerEntry({ callId: 'old' })]);
      bench.clock.us += (BENCH_LIMITS.keepMs - 1) * 1_000;
      await bench.store.book('acme', [ledgerEntry({ callId: 'new', at: bench.clock.us / 1_000 })]);
      expect(await idsOf()).toEqual(['old', 'new']);
      bench.clock.us += 1_000;
      expect(await idsOf()).toEqual(['new']);
      await bench.store.book('acme', [ledgerEntry({ callId: 'newer', at: bench.clock.us / 1_000 })]);
      expect(await idsOf()).toEqual(['new', 'newer']);
    });

    it('holds the newest of more than it may hold', async () => {
      const entries = Array.from({ length: BENCH_LIMITS.mostEntries + 500 }, () => ledgerEntry());
      for (let at = 0; at < entries.length; at += 100) await bench.store.book('acme', entries.slice(at, at + 100));
      const found = await idsOf('acme', { limit: 10_000 });
      expect(found.length).toBeGreaterThanOrEqual(BENCH_LIMITS.mostEntries);
      // Redis drops whole blocks of 100 entries.
      expect(found.length).toBeLessThanOrEqual(BENCH_LIMITS.mostEntries + 100);
      expect(found).toEqual(entries.slice(-found.length).map(({ callId }) => callId));
    });
  });

  describe(`${name}, the sums`, () => {
    it('are those of the calls, by model, of the day and of the month', async () => {
      const entries: LedgerEntry[] = [
        ledgerEntry({ cachedTokens: 4, reasoningTokens: 1 }),
        ledgerEntry({ end: 'partial', isEstimated: true }),
        ledgerEntry({ end: 'hit', promptTokens: 0, completionTokens: 0, costNanoUsd: 0 }),
        ledgerEntry({ end: 'joined', promptTokens: 0, completionTokens: 0, costNanoUsd: 0 }),
        ledgerEntry({ model: 'a|model' }),
        refusedEntry(),
      ];
      await bench.store.book('acme', entries);
      const [day, month] = await bench.store.sums('acme', [DAY, MONTH]);
      expect(day).toEqual(month);
      expect([...(day?.keys() ?? [])].sort()).toEqual(['', 'a|model', 'gpt-4.1']);
      expect(day?.get('gpt-4.1')).toEqual(entries.slice(0, 4).map(sumsOf).reduce(addSums, NO_SUMS));
      expect(day?.get('')).toEqual({ ...NO_SUMS, requests: 1, failed: 1 });
    });

    it('count a call that has no price, instead of taking it for a free one', async () => {
      const { costNanoUsd, ...unpriced } = ledgerEntry();
      await bench.store.book('acme', [unpriced, ledgerEntry()]);
      expect(await sumsFor('gpt-4.1', DAY)).toMatchObject({ requests: 2, unpriced: 1, costNanoUsd: 36_000 });
    });

    it('are of the day in which the call ended, however late it is booked', async () => {
      const midnight = Date.UTC(2026, 11, 1);
      bench.clock.us = (midnight + 5_000) * 1_000;
      await bench.store.book('acme', [ledgerEntry({ at: midnight - 1 }), ledgerEntry({ at: midnight })]);
      const all = await bench.store.sums('acme', ['2026-11-30', '2026-12-01', '2026-11', '2026-12']);
      expect(all.map((sums) => sums.get('gpt-4.1')?.requests)).toEqual([1, 1, 1, 1]);
    });

    it('are none before the first call', async () => {
      expect(await bench.store.sums('nobody', [DAY, MONTH])).toEqual([new Map(), new Map()]);
    });

    it('stand what a provider got wrong', async () => {
      const wrong = { promptTokens: Number.MAX_SAFE_INTEGER, costNanoUsd: Number.MAX_SAFE_INTEGER };
      for (let call = 0; call < 20; call += 1) await bench.store.book('acme', [ledgerEntry(wrong)]);
      expect(await sumsFor('gpt-4.1', DAY)).toMatchObject({ requests: 20, promptTokens: 2e13, costNanoUsd: 2e15 });
    });
  });

  describe(`${name}, a call that is booked again`, () => {
    it('counts once, alone, beside new ones and twice in one go', async () => {
      const [a, b, c] = [ledgerEntry(), ledgerEntry(), ledgerEntry()];
      expect(await bench.store.book('acme', [a, b])).toBe(2);
      expect(await bench.store.book('acme', [a, b, c, c])).toBe(1);
      expect(await idsOf()).toEqual([a.callId, b.callId, c.callId]);
      expect(await sumsFor('gpt-4.1', DAY)).toMatchObject({ requests: 3, promptTokens: 30, costNanoUsd: 108_000 });
    });

    it('is known for as long as anybody may try again', async () => {
      const entry = ledgerEntry();
      await bench.store.book('acme', [entry]);
      bench.clock.us += 600_000_000;
      expect(await bench.store.book('acme', [ledgerEntry(), entry])).toBe(1);
      bench.clock.us += DAY_MS * 1_000;
      await bench.store.book('acme', [ledgerEntry()]);
      expect(await bench.store.book('acme', [entry])).toBe(1);
    });
  });
}
