import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { recordFigures } from '../support/figures.js';
import { PODS, QuotaFleet } from '../support/quota-fleet.js';

const BUDGET_USD = 1;
const MAX_TOKENS = 10;
/** USD per million tokens: so dear that a handful of calls is a dollar. */
const PRICES = { input: 1_000, output: 4_000 };
/** A call reserves its prompt of ten tokens or so, and what is added to it, and the answer that it may have. */
const LEAST_RESERVED_USD = (20 * PRICES.input + MAX_TOKENS * PRICES.output) / 1_000_000;
const MOST_RESERVED_USD = (40 * PRICES.input + MAX_TOKENS * PRICES.output) / 1_000_000;
const TOKENS = 200;
const AT_ONCE = 50;

const dear = {
  deployments: [{ provider: 'judge', model: 'dear', prices: PRICES }],
  // Long enough for all to be under way at once.
  simulated: { firstTokenMs: 300, tokensPerSecond: 100_000 },
};

describe(`budgets over ${String(PODS)} processes`, () => {
  let fleet: QuotaFleet;

  beforeAll(async () => {
    fleet = await QuotaFleet.start({
      models: { dear, cheap: {}, narrow: { limits: { tpm: 1_000 } } },
      callers: {
        one: { budget: { usdPerDay: BUDGET_USD, hard: true } },
        rich: { budget: { usdPerDay: 1_000_000, tokensPerDay: TOKENS, hard: true } },
        free: {},
      },
    });
  });
  afterAll(() => fleet.close());

  /** Spread over the pods. */
  const askAll = (times: number, model: string, caller: string): Promise<readonly number[]> =>
    Promise.all(
      Array.from({ length: times }, async (_, pod) => {
        const response = await fleet.ask({ model, caller, pod, body: { max_tokens: MAX_TOKENS } });
        await response.text();
        return response.status;
      }),
    );

  it('row 30: reserve what calls may cost, so that a hundred at once of a dear model find no more than is there', async () => {
    const statuses = await askAll(100, 'dear', 'one');
    expect([...new Set(statuses)].sort()).toEqual([200, 429]);
    const { peakInFlight, admitted } = await fleet.books('dear');
    expect(peakInFlight).toBeLessThanOrEqual(Math.floor(BUDGET_USD / LEAST_RESERVED_USD));
    expect(admitted).toBeGreaterThanOrEqual(Math.floor(BUDGET_USD / MOST_RESERVED_USD));
  });

  it('row 27: are one budget, however many pods there are', async () => {
    for (let round = 0; ; round += 1) {
      const statuses = await askAll(6, 'dear', 'one');
      if (statuses.every((status) => status === 429)) break;
      expect(round).toBeLessThan(50);
    }
    const { billed } = await fleet.books('dear');
    const billUsd = (billed.promptTokens * PRICES.input + billed.completionTokens * PRICES.output) / 1_000_000;
    expect(billUsd).toBeLessThanOrEqual(BUDGET_USD);
    expect(billUsd).toBeGreaterThan(BUDGET_USD - MOST_RESERVED_USD);
    const [usd] = (await fleet.usage('one', 2)).budgets;
    expect(usd?.spent).toBeCloseTo(billUsd, 6);
    expect(usd?.reserved).toBe(0);
    recordFigures('quota-budgets', { pods: PODS, budgetUsd: BUDGET_USD, billUsd, calls: billed.replies });
  });

  it('row 32: hold a small quota of tokens beside a budget of a million', async () => {
    const statuses = await askAll(AT_ONCE, 'cheap', 'rich');
    expect(statuses).toContain(429);
    const { billed, peakInFlight } = await fleet.books('cheap');
    expect(billed.promptTokens + billed.completionTokens).toBeLessThanOrEqual(TOKENS);
    expect(peakInFlight).toBeLessThanOrEqual(Math.floor(TOKENS / (MAX_TOKENS + 20)));
  });

  it('row 23: count a body that is hardly more than its tools', async () => {
    const words = Array.from({ length: 1_500 }, (_, index) => `word${String(index)}`).join(' ');
    const tools = [
      { type: 'function', function: { name: 'look', description: words, parameters: { type: 'object' } } },
    ];
    const response = await fleet.ask({ model: 'narrow', caller: 'free', body: { tools, max_tokens: MAX_TOKENS } });
    expect(response.status).toBe(429);
    expect(response.headers.get('x-should-retry')).toBe('false');
    expect(await response.text()).toContain('1000 tokens in 60 s');
  });
});
