import { describe, expect, it } from '@jest/globals';
import { readUsage } from '../../../src/ai/call/cost.js';
import { billOf, type CallOutcome, readReasoningTokens } from '../../../src/ai/ledger/bill.js';
import { DeliveredText } from '../../../src/ai/ledger/delivered.text.js';

/** USD per million tokens: 10 + 2 tokens are 36 millionths of a dollar. */
const prices = { input: 2, cachedInput: 0.5, output: 8 };
const outcome = (more: Partial<CallOutcome>): CallOutcome => ({
  ...{ usage: undefined, promptTokens: 10, deliveredTokens: 0, isComplete: true, prices },
  ...more,
});
const usage = (prompt: number, completion: number, cached = 0) =>
  readUsage({
    prompt_tokens: prompt,
    completion_tokens: completion,
    prompt_tokens_details: { cached_tokens: cached },
  });

describe('billOf()', () => {
  it('takes the provider’s usage as it is, of a whole answer', () => {
    expect(billOf(outcome({ usage: usage(10, 2), deliveredTokens: 99 }))).toEqual({
      ...{ promptTokens: 10, cachedTokens: 0, completionTokens: 2, reasoningTokens: 0 },
      ...{ costNanoUsd: 36_000, isEstimated: false },
    });
  });

  it('takes it of a broken one too, and where it says 0 although much was delivered', () => {
    expect(billOf(outcome({ usage: usage(0, 0), deliveredTokens: 99, isComplete: false }))).toEqual({
      ...{ promptTokens: 0, cachedTokens: 0, completionTokens: 0, reasoningTokens: 0 },
      ...{ costNanoUsd: 0, isEstimated: false },
    });
    expect(billOf(outcome({ usage: usage(10, 0), isComplete: false }))).toMatchObject({ costNanoUsd: 20_000 });
  });

  it('counts what was delivered where the provider told no usage, and says so', () => {
    for (const isComplete of [true, false]) {
      expect(billOf(outcome({ deliveredTokens: 3, isComplete }))).toEqual({
        ...{ promptTokens: 10, cachedTokens: 0, completionTokens: 3, reasoningTokens: 0 },
        ...{ costNanoUsd: 44_000, isEstimated: true },
      });
    }
    expect(billOf(outcome({}))).toMatchObject({ promptTokens: 10, completionTokens: 0, isEstimated: true });
  });

  it('takes nothing for a call that failed before it delivered anything', () => {
    expect(billOf(outcome({ isComplete: false }))).toEqual({
      ...{ promptTokens: 0, cachedTokens: 0, completionTokens: 0, reasoningTokens: 0 },
      ...{ costNanoUsd: 0, isEstimated: false },
    });
  });

  it.each([
    ['cached tokens once, at their own price', { usage: usage(1_000, 100, 600) }, 800_000 + 300_000 + 800_000],
    ['less than a millionth of a dollar exactly', { usage: usage(1, 0), prices: { ...prices, input: 0.075 } }, 75],
    ['an estimate at the full price of a prompt', { deliveredTokens: 1 }, 28_000],
  ])('bills %s', (_, more, nano) => {
    expect(billOf(outcome(more))).toMatchObject({ costNanoUsd: nano });
  });

  it('leaves a call unpriced that has no price, unless it has no tokens', () => {
    const unpriced = billOf(outcome({ usage: usage(10, 2), prices: undefined }));
    expect(unpriced.costNanoUsd).toBeUndefined();
    expect(unpriced).toMatchObject({ promptTokens: 10, completionTokens: 2 });
    const priority = billOf(outcome({ usage: readUsage({ prompt_tokens: 5, completion_tokens: 1 }, 'priority') }));
    expect(priority.costNanoUsd).toBeUndefined();
    expect(billOf(outcome({ usage: usage(0, 0), prices: undefined }))).toMatchObject({ costNanoUsd: 0 });
  });

  it('keeps the provider’s word on reasoning, and has none of its own', () => {
    const told = { prompt_tokens: 1, completion_tokens: 50, completion_tokens_details: { reasoning_tokens: 40 } };
    const reasoningTokens = readReasoningTokens(told, 50);
    expect(billOf(outcome({ usage: readUsage(told), reasoningTokens }))).toMatchObject({
      completionTokens: 50,
      reasoningTokens: 40,
    });
    expect(billOf(outcome({ deliveredTokens: 9, reasoningTokens: 5 }))).toMatchObject({ reasoningTokens: 0 });
  });
});

describe('readReasoningTokens()', () => {
  it.each([
    [undefined, 0],
    [{}, 0],
    [{ completion_tokens_details: null }, 0],
    [{ completion_tokens_details: { reasoning_tokens: -1 } }, 0],
    [{ completion_tokens_details: { reasoning_tokens: '7' } }, 0],
    [{ completion_tokens_details: { reasoning_tokens: 1.5 } }, 0],
    [{ completion_tokens_details: { reasoning_tokens: 7 } }, 7],
    [{ completion_tokens_details: { reasoning_tokens: 70 } }, 50],
  ])('reads %j', (value, tokens) => {
    expect(readReasoningTokens(value, 50)).toBe(tokens);
  });
});

describe('DeliveredText', () => {
  const textOf = (...values: object[]): string => {
    const delivered = new DeliveredText();
    for (const value of values) delivered.add({ ...value });
    return delivered.text;
  };
  const delta = (members: object, index = 0): object => ({ choices: [{ index, delta: members }] });

  it('is what was said, thought, refused and called, of chunks and of a whole answer', () => {
    const call = { index: 0, id: 'call_1', type: 'function', function: { name: 'f', arguments: '{"a"' } };
    expect(
      textOf(
        delta({ role: 'assistant', content: '' }),
        delta({ reasoning_content: 'hm ' }),
        delta({ content: 'Hi' }),
        delta({ content: ' there' }, 1),
        delta({ refusal: '!' }),
        delta({ tool_calls: [call] }),
        delta({ tool_calls: [{ index: 0, function: { arguments: ':1}' } }] }),
      ),
    ).toBe('hm Hi there!f{"a":1}');
    expect(textOf({ choices: [{ message: { content: [{ type: 'text', text: 'parts' }] } }] })).toBe('parts');
  });

  it.each([{}, { choices: null }, { choices: [null, 5, {}] }, { error: { message: 'no' } }, delta({ content: null })])(
    'is nothing of %j',
    (value) => {
      expect(textOf(value)).toBe('');
    },
  );
});
