import { afterAll, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { BudgetReader } from '../../src/ai/ledger/budget.reader.js';
import type { LedgerEntry } from '../../src/ai/ledger/ledger.entry.js';
import { StoreUnavailableError } from '../../src/store/index.js';
import { ledgerEntry, refusedEntry } from '../support/ledger-bench.js';
import { type Json, record } from '../support/schema.checker.js';
import { errorOf, NEITHER, OPERATOR, UsageApp } from '../support/usage-app.js';

const budgets: BudgetReader = {
  allowanceOf: (caller) =>
    Promise.resolve(
      caller !== 'acme'
        ? { limits: {}, budgets: [] }
        : {
            limits: { rpm: 60 },
            budgets: [
              { unit: 'usd', period: 'day', limit: 0.3, spent: 0.1, reserved: 0.1, resetsAt: 0, isHard: true },
              { unit: 'tokens', period: 'month', limit: 10, spent: 12, reserved: 0, resetsAt: 0, isHard: false },
            ],
          },
    ),
};

let app: UsageApp;
beforeAll(async () => {
  app = await UsageApp.start(budgets);
});
beforeEach(() => {
  jest.restoreAllMocks();
});
afterAll(() => app.close());

const now = (more: Partial<LedgerEntry> = {}): LedgerEntry => ledgerEntry({ at: Date.now(), ...more });

describe('GET /v1/usage', () => {
  it('tells what was used today and this month, by model, with what has just been booked', async () => {
    app.ledger.book('acme', now({ cachedTokens: 4 }));
    app.ledger.book('acme', now({ model: 'big', costNanoUsd: 5_000_000 }));
    app.ledger.book('acme', refusedEntry({ at: Date.now() }));
    app.ledger.book('other', now());
    const answer = await app.ask('');
    const [usage = {}] = answer.lines;
    expect([answer.status, answer.headers.get('cache-control')]).toEqual([200, 'no-store']);
    expect(app.document.faults({ $ref: '#/components/schemas/UsageCard' }, usage)).toEqual([]);
    const periods = record(usage['periods']);
    const sums = { requests: 3, failed: 1, prompt_tokens: 20, cached_tokens: 4, cost_usd: 0.005036 };
    for (const period of ['day', 'month']) expect(periods[period]).toMatchObject(sums);
    const models = record(periods['day'])['models'] as Json[];
    expect(models.map(({ model, requests }) => [model, requests])).toEqual([
      ['big', 1],
      ['gpt-4.1', 1],
      [null, 1],
    ]);
    expect(usage).toMatchObject({ object: 'usage', caller: 'acme' });
  });

  it('tells limits, and what is left of budgets: never less than nothing', async () => {
    const [usage] = (await app.ask('')).lines;
    expect(usage).toMatchObject({
      limits: { rpm: 60, tpm: null, concurrency: null },
      budgets: [
        { unit: 'usd', period: 'day', limit: 0.3, spent: 0.1, reserved: 0.1, left: 0.1, hard: true },
        { unit: 'tokens', period: 'month', limit: 10, spent: 12, left: 0, hard: false },
      ],
    });
  });

  it('tells of another day', async () => {
    await app.store.book('acme', [ledgerEntry({ at: Date.UTC(2025, 1, 28, 23, 59) })]);
    const [usage = {}] = (await app.ask('?date=2025-02-28')).lines;
    expect(record(record(usage['periods'])['day'])).toMatchObject({
      start: '2025-02-28T00:00:00.000Z',
      end: '2025-03-01T00:00:00.000Z',
      requests: 1,
    });
    expect(record(record(usage['periods'])['month'])).toMatchObject({ end: '2025-03-01T00:00:00.000Z', requests: 1 });
  });

  it('is each caller’s own, and everybody’s for who has the scope admin', async () => {
    for (const path of ['', '/ledger']) {
      const refused = await app.ask(`${path}?caller=ops`);
      expect([refused.status, errorOf(refused)['code']]).toEqual([403, 'insufficient_scope']);
      expect((await app.ask(`${path}?caller=nobody`)).text).toBe(refused.text);
      expect((await app.ask(path, NEITHER)).status).toBe(403);
      expect((await app.ask(path, OPERATOR)).status).toBe(200);
      expect((await app.ask(`${path}?caller=acme`)).status).toBe(200);
    }
    const [usage] = (await app.ask('?caller=acme', OPERATOR)).lines;
    expect(usage).toMatchObject({ caller: 'acme', limits: { rpm: 60 } });
    expect(record(usage?.['periods'])['day']).toMatchObject({ requests: 3 });
  });

  it.each([
    ['?date=2026-02-30', 'date'],
    ['?date=today', 'date'],
    ['?date=2026-02-03T00:00:00Z', 'date'],
    ['?caller=', undefined],
    ['?when=now', 'when'],
    ['/ledger?from=2026-02-03T00:00:00', 'from'],
    ['/ledger?to=1764417600', 'to'],
    ['/ledger?after=5', 'after'],
    ['/ledger?limit=0', 'limit'],
    ['/ledger?limit=100001', 'limit'],
    ['/ledger?limit=5&limit=6', 'limit'],
  ])('refuses %s', async (query, param) => {
    const answer = await app.ask(query);
    if (param === undefined) expect(answer.status).toBe(403);
    else expect([answer.status, errorOf(answer)]).toMatchObject([400, { code: 'invalid_request', param }]);
    expect(answer.headers.get('content-type')).toContain('application/json');
  });

  it('is unavailable while the store is', async () => {
    jest.spyOn(app.store, 'sums').mockRejectedValue(new StoreUnavailableError('redis is down'));
    jest.spyOn(app.store, 'page').mockRejectedValue(new StoreUnavailableError('redis is down'));
    for (const path of ['', '/ledger']) {
      const answer = await app.ask(path);
      expect([answer.status, errorOf(answer)['code']]).toEqual([503, 'store_unavailable']);
    }
  });
});
