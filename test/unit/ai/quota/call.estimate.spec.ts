import { describe, expect, it } from '@jest/globals';
import { estimateOf } from '../../../../src/ai/quota/call.estimate.js';
import { microUsdOf } from '../../../../src/ai/quota/micro.usd.js';
import { deployment, model } from '../../../support/catalogues.js';

const MODEL = model('m', [deployment('one')], { maxOutputTokens: 4_000, expectedOutputTokens: 1_024 });
const PRICES = { input: 2, cachedInput: 0.5, output: 8 };
const size = { promptTokens: 100, maxOutputTokens: 50, choices: 1 };

describe('estimateOf()', () => {
  it('takes the prompt for a little more than it was counted, and the answer for all it may be', () => {
    expect(estimateOf(size, MODEL, PRICES)).toEqual({ outputTokens: 50, tokens: 121 + 50, microUsd: 121 * 2 + 50 * 8 });
  });

  it('takes each of several answers', () => {
    expect(estimateOf({ ...size, choices: 3 }, MODEL, PRICES)).toMatchObject({ outputTokens: 50, tokens: 121 + 150 });
  });

  it('takes an answer without a limit for what is expected, at most for what the smallest limit leaves', () => {
    const open = { ...size, maxOutputTokens: 0 };
    expect(estimateOf(open, MODEL, PRICES)).toMatchObject({ outputTokens: 1_024 });
    expect(estimateOf(open, MODEL, PRICES, 500)).toMatchObject({ outputTokens: 379, tokens: 500 });
    expect(estimateOf({ ...open, choices: 2 }, MODEL, PRICES, 500)).toMatchObject({ outputTokens: 189 });
    expect(estimateOf(open, MODEL, PRICES, 10)).toMatchObject({ outputTokens: 1 });
  });

  it('takes no answer for longer than the model can give', () => {
    expect(estimateOf({ ...size, maxOutputTokens: 9_999 }, MODEL, PRICES)).toMatchObject({ outputTokens: 4_000 });
    const short = { ...MODEL, maxOutputTokens: 100 };
    expect(estimateOf({ ...size, maxOutputTokens: 0 }, short, PRICES)).toMatchObject({ outputTokens: 100 });
  });

  it('has no cost where there is no price, and the dearest where a cache may be written', () => {
    expect(estimateOf(size, MODEL, undefined).microUsd).toBeUndefined();
    expect(estimateOf(size, MODEL, { ...PRICES, cacheWrite: 2.5, cacheWrite1h: 4 }).microUsd).toBe(121 * 4 + 50 * 8);
  });
});

describe('microUsdOf()', () => {
  it.each([
    [0, 0],
    [0.000_000_001, 1],
    [0.000_000_499, 1],
    [0.000_001, 1],
    [0.000_001_001, 2],
    [0.1 + 0.2, 300_000],
    [1.000_000_4, 1_000_001],
    [12.345_678, 12_345_678],
  ])('books %d USD as %d', (usd, micro) => {
    expect(microUsdOf(usd)).toBe(micro);
  });
});
