import { afterAll, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { LedgerEntry } from '../../src/ai/ledger/ledger.entry.js';
import { StoreUnavailableError } from '../../src/store/index.js';
import { eventually } from '../support/eventually.js';
import { ledgerEntry } from '../support/ledger-bench.js';
import { pass } from '../support/pass.js';
import { type Lines, OPERATOR, UsageApp } from '../support/usage-app.js';

let app: UsageApp;
beforeAll(async () => {
  app = await UsageApp.start({ allowanceOf: () => Promise.resolve({ limits: {}, budgets: [] }) });
});
beforeEach(() => {
  jest.restoreAllMocks();
});
afterAll(() => app.close());

const now = (more: Partial<LedgerEntry> = {}): LedgerEntry => ledgerEntry({ at: Date.now(), ...more });

describe('GET /v1/usage/ledger', () => {
  const book = async (caller: string, count: number): Promise<void> => {
    for (let at = 0; at < count; at += 100) {
      await app.store.book(
        caller,
        Array.from({ length: Math.min(100, count - at) }, () => now()),
      );
    }
  };
  const exported = (caller: string, query = ''): Promise<Lines> =>
    app.ask(`/ledger?caller=${caller}${query}`, OPERATOR);

  it('gives a line for each call, as the documentation has it', async () => {
    const { costNanoUsd, ...unpriced } = now({ idempotencyKeyHash: 'ab12' });
    await app.store.book('lines', [now({ end: 'partial', code: 'timeout', isEstimated: true }), unpriced]);
    const { status, headers, lines } = await exported('lines');
    expect([status, headers.get('content-type')]).toEqual([200, 'application/x-ndjson; charset=utf-8']);
    for (const line of lines)
      expect(app.document.faults({ $ref: '#/components/schemas/LedgerLine' }, line)).toEqual([]);
    expect(lines).toMatchObject([
      {
        object: 'usage.entry',
        caller: 'lines',
        outcome: 'partial',
        code: 'timeout',
        cost_usd: 0.000036,
        estimated: true,
      },
      { outcome: 'complete', code: null, cost_usd: null, idempotency_key_sha256: 'ab12', estimated: false },
    ]);
  });

  it('goes on from the last id until nothing follows, every call once', async () => {
    await book('many', 1_300);
    const ids: unknown[] = [];
    for (let after = ''; ;) {
      const { lines } = await exported('many', `&limit=600${after}`);
      ids.push(...lines.map(({ id }) => id));
      if (lines.length < 600) break;
      after = `&after=${String(lines.at(-1)?.['id'])}`;
    }
    expect([ids.length, new Set(ids).size]).toEqual([1_300, 1_300]);
  });

  it('gives no more than it is asked for, and nothing where there is nothing', async () => {
    await book('few', 3);
    expect((await exported('few', '&limit=2')).lines).toHaveLength(2);
    expect(await exported('none')).toMatchObject({ status: 200, text: '' });
  });

  it('takes dates and times with zones', async () => {
    const at = Date.now() - 5_000;
    await app.store.book('dated', [now({ at }), now({ at: at + 1_000 })]);
    const count = async (query: string): Promise<number> => (await exported('dated', query)).lines.length;
    const later = new Date(at + 1_000).toISOString();
    const twoHoursEast = new Date(at + 7_201_000).toISOString().replace('Z', '+02:00');
    expect(await count('&from=2020-01-01')).toBe(2);
    expect(await count('&to=2020-01-01')).toBe(0);
    expect(await count(`&from=${later}`)).toBe(1);
    expect(await count(`&to=${encodeURIComponent(twoHoursEast)}`)).toBe(1);
    expect(await count(`&from=${later}&to=${later}`)).toBe(0);
  });

  it('ends with an error’s line where it breaks off', async () => {
    await book('broken', 700);
    const page = app.store.page.bind(app.store);
    jest
      .spyOn(app.store, 'page')
      .mockImplementation((caller, question) =>
        question.after === undefined ? page(caller, question) : Promise.reject(new StoreUnavailableError('down')),
      );
    const { status, lines } = await exported('broken', '&limit=700');
    expect([status, lines.length]).toEqual([200, 501]);
    expect(lines.at(-1)).toMatchObject({ error: { code: 'store_unavailable' } });
  });

  it('reads no further than its reader does, and ends with it', async () => {
    const entries = Array.from({ length: 500 }, (_, at) => ({ ...now(), id: `1-${at}` }));
    const page = jest.spyOn(app.store, 'page').mockResolvedValue({ entries, next: '1-1' });
    const leaving = new AbortController();
    const response = await fetch(`${app.url}/v1/usage/ledger?caller=long&limit=100000`, {
      headers: { authorization: `Bearer ${OPERATOR}` },
      signal: leaving.signal,
    });
    await response.body?.getReader().read();
    let asked = 0;
    await eventually(async () => {
      asked = page.mock.calls.length;
      await pass(100);
      return page.mock.calls.length === asked;
    });
    expect(asked).toBeLessThan(150);
    leaving.abort();
    await pass(50);
    // One page may have been under way.
    expect(page.mock.calls.length).toBeLessThanOrEqual(asked + 1);
  });
});
