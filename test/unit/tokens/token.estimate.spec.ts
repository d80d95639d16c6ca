import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { estimateTokens, observedRatio, TokenCounters } from '../../../src/tokens/index.js';

const tokenizer = { encoding: 'o200k', ratio: 1.5 } as const;
const options = { patienceMs: 600_000 };
const body = { messages: [{ role: 'user', content: ' word'.repeat(93) }] };

let counters: TokenCounters;

beforeAll(() => {
  counters = new TokenCounters();
});

afterAll(() => counters.close());

describe('estimateTokens()', () => {
  it("takes the tokenizer's ratio until a calibration is known, and then that instead", async () => {
    expect(await estimateTokens(counters, tokenizer, body, options)).toMatchObject({ tokens: 150, textTokens: 100 });
    const calibrated = await estimateTokens(counters, tokenizer, body, { ...options, calibration: 1.2 });
    expect(calibrated).toMatchObject({ tokens: 120, textTokens: 100 });
  });

  it('refuses a calibration that is no factor', () => {
    expect(() => estimateTokens(counters, tokenizer, body, { calibration: 0 })).toThrow(RangeError);
  });

  it("comes to the provider's number with the ratio that its usage has shown", async () => {
    const first = await estimateTokens(counters, tokenizer, body, options);
    const calibration = observedRatio(first, 117);
    expect(calibration).toBe(1.17);
    const next = await estimateTokens(counters, tokenizer, body, { ...options, ...(calibration && { calibration }) });
    expect(next.tokens).toBe(117);
  });
});

describe('observedRatio()', () => {
  it('learns nothing from upper bounds, from attachments, and from a provider that tells nothing', () => {
    const count = { tokens: 10, textTokens: 10, attachmentTokens: 0, isEstimate: false };
    expect(observedRatio(count, 12)).toBe(1.2);
    expect(observedRatio({ ...count, isEstimate: true }, 12)).toBeUndefined();
    expect(observedRatio({ ...count, attachmentTokens: 85 }, 95)).toBeUndefined();
    expect(observedRatio({ ...count, textTokens: 0 }, 12)).toBeUndefined();
    expect(observedRatio(count, 0)).toBeUndefined();
    expect(observedRatio(count, Number.NaN)).toBeUndefined();
  });
});
