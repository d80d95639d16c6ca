import { describe, expect, it } from '@jest/globals';
import { GeminiReader } from '../../../src/ai/upstream/vertex/gemini.reader.js';

const readerFor = (): GeminiReader =>
  new GeminiReader({ provider: 'vertex', model: 'gemini-2.5-flash', choices: 1, now: 1_700_000_000 });
const candidate = (parts: readonly object[], more: object = {}): object => ({
  content: { role: 'model', parts },
  ...more,
});
const usageMetadata = { promptTokenCount: 3, candidatesTokenCount: 2, totalTokenCount: 5 };
const usage = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 };

describe('the end of an answer of Gemini', () => {
  const whole = (response: Record<string, unknown>): Record<string, unknown> => readerFor().readWhole(response);

  const useless = (message: string): unknown =>
    expect.objectContaining({
      blame: 'deployment',
      code: 'upstream_error',
      message: `vertex ${message}`,
      usage: expect.objectContaining(usage),
    });

  it.each(['MALFORMED_FUNCTION_CALL', 'UNEXPECTED_TOOL_CALL', 'TOO_MANY_TOOL_CALLS'])(
    'is of no use, though it is paid, where the model failed at a call: %s',
    (finishReason) => {
      for (const parts of [[], [{ text: 'I look.' }]])
        expect(() => whole({ candidates: [candidate(parts, { finishReason })], usageMetadata })).toThrow(
          useless(`stopped its answer before the end: ${finishReason}`),
        );
    },
  );

  it.each([
    ['OTHER', 'content_filter'],
    ['IMAGE_OTHER', 'content_filter'],
    ['FACE_SAFETY', 'content_filter'],
    ['A_REASON_OF_NEXT_YEAR', 'stop'],
  ])('is one where something was said and the end is %s, and else of no use', (finishReason, finish) => {
    const response = { candidates: [candidate([{ text: 'x' }], { finishReason })] };
    expect(whole(response)['choices']).toMatchObject([{ message: { content: 'x' }, finish_reason: finish }]);
    expect(() => whole({ candidates: [candidate([{ text: '' }], { finishReason })], usageMetadata })).toThrow(
      useless(`stopped its answer before the end: ${finishReason}`),
    );
  });

  it('is one with calls also where the end is new', () => {
    const called = candidate([{ functionCall: { name: 'f' } }], { finishReason: 'A_REASON_OF_NEXT_YEAR' });
    expect(whole({ candidates: [called] })['choices']).toMatchObject([{ finish_reason: 'tool_calls' }]);
  });

  it.each([
    ['a picture', [{ inlineData: { mimeType: 'image/png', data: '' } }], 'inlineData'],
    ['code that ran there', [{ text: 'x' }, { executableCode: { language: 'PYTHON' } }], 'executableCode'],
  ])('is of no use where it holds %s, which would be missing', (_, parts, word) => {
    const response = { candidates: [candidate(parts, { finishReason: 'STOP' })], usageMetadata };
    expect(() => whole(response)).toThrow(useless(`answered with ${word}, which has no counterpart here`));
  });

  it.each([
    ['ON_DEMAND', 'default'],
    ['ON_DEMAND_FLEX', 'flex'],
    ['ON_DEMAND_PRIORITY', 'priority'],
    ['PROVISIONED_THROUGHPUT', 'scale'],
    ['A_TIER_OF_NEXT_YEAR', undefined],
    [undefined, undefined],
  ])('tells the tier that it was served at: %s is %s', (trafficType, tier) => {
    const response = { candidates: [candidate([{ text: 'x' }], { finishReason: 'STOP' })] };
    const told = { ...response, usageMetadata: { ...usageMetadata, trafficType } };
    expect(whole(told)['service_tier']).toBe(tier);
    expect(
      readerFor()
        .read(told)
        .map((chunk) => chunk['service_tier']),
    ).toEqual([tier, tier]);
  });
});
