import { describe, expect, it } from '@jest/globals';
import { ChunkWriter } from '../../../src/ai/call/chunk.writer.js';
import { costUsd, pricedUsage, priceOf, readUsage } from '../../../src/ai/call/cost.js';

const prices = { input: 2, cachedInput: 0.5, output: 8 };

describe('costUsd()', () => {
  it('charges cached tokens at their own price and not twice', () => {
    expect(costUsd({ promptTokens: 1_000, cachedTokens: 400, completionTokens: 100 }, prices)).toBe(0.0022);
  });

  it('has no rounding noise', () => {
    expect(
      costUsd({ promptTokens: 3, cachedTokens: 0, completionTokens: 1 }, { input: 0.1, cachedInput: 0.1, output: 0.2 }),
    ).toBe(0.0000005);
  });
});

describe('costUsd() of what was written to a cache', () => {
  /** Anthropic's for Claude Sonnet 4.5: writes for 5 minutes at 1.25 times the price of input, for an hour at twice. */
  const sonnet = { input: 3, cachedInput: 0.3, cacheWrite: 3.75, cacheWrite1h: 6, output: 15 };
  const usage = { promptTokens: 10_000, cachedTokens: 0, completionTokens: 100 };

  it('charges writes at their own price and not as input too', () => {
    // 2,000 x 3 + 8,000 x 3.75 + 100 x 15 = 37,500 millionths
    expect(costUsd({ ...usage, cacheWriteTokens: 8_000 }, sonnet)).toBe(0.0375);
  });

  it('charges those for an hour at theirs, and only the others at the price of five minutes', () => {
    // 2,000 x 3 + 5,000 x 3.75 + 3,000 x 6 + 100 x 15 = 44,250 millionths
    expect(costUsd({ ...usage, cacheWriteTokens: 8_000, cacheWrite1hTokens: 3_000 }, sonnet)).toBe(0.04425);
  });

  it('adds reads, writes of both kinds, input and output without rounding noise', () => {
    const counts = {
      promptTokens: 123_457,
      cachedTokens: 100_003,
      cacheWriteTokens: 20_011,
      cacheWrite1hTokens: 7_019,
    };
    // 3,443 x 3 + 100,003 x 0.3 + 12,992 x 3.75 + 7,019 x 6 + 331 x 15 = 136,128.9 millionths
    expect(costUsd({ ...counts, completionTokens: 331 }, sonnet)).toBe(0.1361289);
  });

  it.each([
    ['as input where they have no price', { input: 3, cachedInput: 0.3, output: 15 }, 0.0315],
    [
      'for an hour as the others, where they have none',
      { input: 3, cachedInput: 0.3, cacheWrite: 3.75, output: 15 },
      0.0375,
    ],
  ])('charges writes %s', (_case, prices, cost) => {
    expect(costUsd({ ...usage, cacheWriteTokens: 8_000, cacheWrite1hTokens: 3_000 }, prices)).toBe(cost);
  });
});

describe('priceOf()', () => {
  const usage = { prompt_tokens: 1_000, completion_tokens: 100 };

  it.each([undefined, null, 'default', 'auto', 'standard', 'on_demand'])(
    'prices what was served at the tier %s',
    (tier) => {
      expect(priceOf(readUsage(usage, tier), prices)).toBe(0.0028);
    },
  );

  it.each(['priority', 'flex', 'scale', 'a_tier_of_next_year'])('has no price for the tier %s', (tier) => {
    const read = readUsage(usage, tier);
    expect(read).toMatchObject({ promptTokens: 1_000, completionTokens: 100 });
    expect(priceOf(read, prices)).toBeUndefined();
  });

  it('has none without usage or prices', () => {
    expect(priceOf(undefined, prices)).toBeUndefined();
    expect(priceOf(readUsage(usage), undefined)).toBeUndefined();
  });

  it.each([
    ['default', true],
    ['priority', false],
  ])('holds for a stream that says %s at its beginning only', (tier, isPriced) => {
    const writer = new ChunkWriter({ model: 'm', wantsUsage: true, prices });
    const write = (value: Readonly<Record<string, unknown>>): string =>
      writer.write({ kind: 'chunk', text: JSON.stringify(value), value });
    write({ choices: [{ index: 0, delta: {} }], service_tier: tier });
    expect(write({ choices: [], usage }).includes('"cost"')).toBe(isPriced);
    expect(priceOf(writer.usage, prices) !== undefined).toBe(isPriced);
  });
});

describe('pricedUsage()', () => {
  it('puts the cost beside what is there', () => {
    expect(pricedUsage('{"prompt_tokens": 1}', 0.5)).toBe('{"prompt_tokens": 1,"cost":0.5}');
  });

  it.each([['null'], ['"x"'], [undefined]])('leaves %s alone, which is no object', (text) => {
    expect(pricedUsage(text, 0.5)).toBe(text);
  });
});

describe('readUsage()', () => {
  it('reads OpenAI usage', () => {
    const usage = { prompt_tokens: 10, completion_tokens: 2, prompt_tokens_details: { cached_tokens: 4 } };
    expect(readUsage(usage)).toEqual({ promptTokens: 10, cachedTokens: 4, completionTokens: 2 });
  });

  it('takes an explicit zero for zero', () => {
    expect(readUsage({ prompt_tokens: 0, completion_tokens: 0 })).toEqual({
      promptTokens: 0,
      cachedTokens: 0,
      completionTokens: 0,
    });
  });

  it('never lets more be cached than was sent', () => {
    expect(
      readUsage({ prompt_tokens: 3, completion_tokens: 0, prompt_tokens_details: { cached_tokens: 9 } })?.cachedTokens,
    ).toBe(3);
  });

  it('reads what was written to a cache, and what of it for an hour', () => {
    const details = { cached_tokens: 4, cache_write_tokens: 5, cache_write_1h_tokens: 2 };
    expect(readUsage({ prompt_tokens: 10, completion_tokens: 2, prompt_tokens_details: details })).toEqual({
      promptTokens: 10,
      cachedTokens: 4,
      cacheWriteTokens: 5,
      cacheWrite1hTokens: 2,
      completionTokens: 2,
    });
  });

  it('never lets the parts be more than the whole', () => {
    const details = { cached_tokens: 4, cache_write_tokens: 99, cache_write_1h_tokens: 50 };
    const usage = readUsage({ prompt_tokens: 10, completion_tokens: 0, prompt_tokens_details: details });
    expect(usage).toMatchObject({ cachedTokens: 4, cacheWriteTokens: 6, cacheWrite1hTokens: 6 });
  });

  it.each([
    undefined,
    null,
    'x',
    {},
    { prompt_tokens: '1', completion_tokens: 2 },
    { prompt_tokens: -1, completion_tokens: 0 },
    { prompt_tokens: 1e308, completion_tokens: 1 },
    { prompt_tokens: 0.5, completion_tokens: 1 },
  ])('finds none in %j', (value) => {
    expect(readUsage(value)).toBeUndefined();
  });
});
