import { describe, expect, it } from '@jest/globals';
import { costUsd, pricedUsage, readUsage } from '../../../src/ai/call/cost.js';

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
