import { describe, expect, it } from '@jest/globals';
import { GeminiReader } from '../../../src/ai/upstream/vertex/gemini.reader.js';
import { MalformedStreamError } from '../../../src/ai/wire/sse.reader.js';

const readerFor = (choices = 1): GeminiReader =>
  new GeminiReader({ provider: 'vertex', model: 'gemini-2.5-flash', choices, now: 1_700_000_000 });
const candidate = (parts: readonly object[], more: object = {}): object => ({
  content: { role: 'model', parts },
  ...more,
});
const usageMetadata = { promptTokenCount: 3, candidatesTokenCount: 2, totalTokenCount: 5 };
const usage = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 };

describe('a whole answer of Gemini', () => {
  const whole = (response: Record<string, unknown>, choices = 1): Record<string, unknown> =>
    readerFor(choices).readWhole(response);

  it('is a chat completion', () => {
    const response = {
      candidates: [candidate([{ text: 'Hel' }, { text: 'lo' }], { finishReason: 'STOP', avgLogprobs: -0.1 })],
      usageMetadata,
      modelVersion: 'gemini-2.5-flash-001',
      createTime: '2026-11-29T09:00:00.123456Z',
      responseId: 'r1',
    };
    expect(whole(response)).toEqual({
      id: 'chatcmpl-r1',
      object: 'chat.completion',
      created: 1_795_942_800,
      model: 'gemini-2.5-flash-001',
      choices: [
        {
          index: 0,
          message: { role: 'assistant', content: 'Hello', refusal: null },
          logprobs: null,
          finish_reason: 'stop',
        },
      ],
      usage: expect.objectContaining(usage),
    });
  });

  it('may not say who made it, and when', () => {
    const told = whole({ candidates: [candidate([{ text: 'x' }], { finishReason: 'STOP' })] });
    expect(told).toMatchObject({
      id: expect.stringMatching(/^chatcmpl-.{10}/),
      created: 1_700_000_000,
      model: 'gemini-2.5-flash',
    });
    expect(told).not.toHaveProperty('usage');
  });

  it('may hold several answers', () => {
    const response = {
      candidates: [
        candidate([{ text: 'a' }], { finishReason: 'STOP' }),
        candidate([{ text: 'b' }], { finishReason: 'MAX_TOKENS', index: 1 }),
      ],
    };
    expect(whole(response, 2)['choices']).toMatchObject([
      { index: 0, message: { content: 'a' }, finish_reason: 'stop' },
      { index: 1, message: { content: 'b' }, finish_reason: 'length' },
    ]);
  });

  it('has no text where the model ran out of tokens while it thought', () => {
    const response = { candidates: [{ content: { role: 'model' }, finishReason: 'MAX_TOKENS' }] };
    expect(whole(response)['choices']).toMatchObject([{ message: { content: '' }, finish_reason: 'length' }]);
  });

  it.each(['SAFETY', 'PROHIBITED_CONTENT', 'BLOCKLIST', 'OTHER', 'JAILBREAK', 'MODEL_ARMOR'])(
    'is a filtered one where the prompt was blocked: %s',
    (blockReason) => {
      const response = { promptFeedback: { blockReason }, usageMetadata: { promptTokenCount: 3, totalTokenCount: 3 } };
      expect(whole(response, 2)).toMatchObject({
        choices: [0, 1].map((index) => ({
          index,
          message: { role: 'assistant', content: '' },
          finish_reason: 'content_filter',
        })),
        usage: { prompt_tokens: 3, completion_tokens: 0 },
      });
    },
  );

  it('carries the signatures of what was thought', () => {
    const parts = [
      { text: 'I look.', thoughtSignature: 'sig-text' },
      { functionCall: { name: 'f', args: { a: 1 } }, thoughtSignature: 'sig-call' },
      { functionCall: { name: 'g' } },
      { functionCall: { name: 'h', id: 'own-id' } },
    ];
    const response = { candidates: [candidate(parts, { finishReason: 'STOP' })], responseId: 'r1' };
    const { choices } = whole(response);
    expect(choices).toMatchObject([
      {
        finish_reason: 'tool_calls',
        message: {
          content: 'I look.',
          extra_content: { google: { thought_signature: 'sig-text' } },
          tool_calls: [
            {
              id: expect.stringMatching(/^call_[0-9a-f]{24}$/),
              type: 'function',
              function: { name: 'f', arguments: '{"a":1}' },
              extra_content: { google: { thought_signature: 'sig-call' } },
            },
            { function: { name: 'g', arguments: '{}' } },
            { id: 'own-id' },
          ],
        },
      },
    ]);
    expect(whole(response)).toEqual(whole(response));
    expect(JSON.stringify(choices)).not.toMatch(/"tool_calls":\[\{"index"/);
  });

  it('tells the probabilities of its tokens', () => {
    const logprobsResult = {
      chosenCandidates: [{ token: 'Hé', tokenId: 1, logProbability: -0.5 }, { token: '!' }],
      topCandidates: [{ candidates: [{ token: 'Hé', logProbability: -0.5 }] }],
    };
    const { choices } = whole({ candidates: [candidate([{ text: 'Hé!' }], { finishReason: 'STOP', logprobsResult })] });
    expect(choices).toMatchObject([
      {
        logprobs: {
          content: [
            {
              token: 'Hé',
              logprob: -0.5,
              bytes: [72, 195, 169],
              top_logprobs: [{ token: 'Hé', logprob: -0.5, bytes: [72, 195, 169] }],
            },
            { token: '!', logprob: 0, bytes: [33], top_logprobs: [] },
          ],
          refusal: null,
        },
      },
    ]);
  });

  it('keeps what Gemini says of it beside', () => {
    const safetyRatings = [{ category: 'HARM_CATEGORY_HATE_SPEECH', probability: 'HIGH', blocked: true }];
    const { choices } = whole({ candidates: [{ finishReason: 'SAFETY', safetyRatings, tokenCount: 4 }] });
    expect(choices).toMatchObject([
      { finish_reason: 'content_filter', extra_content: { google: { finishReason: 'SAFETY', safetyRatings } } },
    ]);
  });

  it.each([
    ['nothing', {}],
    ['no candidates', { candidates: [] }],
    ['only a count', { usageMetadata }],
    ['an answer without an end', { candidates: [candidate([{ text: 'x' }])] }],
    ['an end that is not said', { candidates: [candidate([], { finishReason: 'FINISH_REASON_UNSPECIFIED' })] }],
    ['parts that are none', { candidates: [candidate(['x' as unknown as object], { finishReason: 'STOP' })] }],
    ['a candidate that is none', { candidates: ['x'] }],
    ['a call of nothing', { candidates: [candidate([{ functionCall: {} }], { finishReason: 'STOP' })] }],
  ])('is not %s', (_, response) => {
    expect(() => whole(response)).toThrow(MalformedStreamError);
  });
});

describe('the responses of a stream', () => {
  it('are chunks, the usage in one of its own once all has been said', () => {
    const reader = readerFor(2);
    const read = (response: Record<string, unknown>): unknown[] => [...reader.read(response)];
    expect(read({ candidates: [candidate([{ text: 'a' }])], usageMetadata: { promptTokenCount: 3 } })).toMatchObject([
      { object: 'chat.completion.chunk', choices: [{ index: 0, delta: { role: 'assistant', content: 'a' } }] },
    ]);
    expect(read({ candidates: [candidate([{ text: 'b' }], { finishReason: 'STOP', index: 1 })] })).toMatchObject([
      { choices: [{ index: 1, delta: { role: 'assistant', content: 'b' }, finish_reason: 'stop' }] },
    ]);
    expect(reader.isComplete).toBe(false);
    const last = read({ candidates: [candidate([{ text: 'c' }], { finishReason: 'STOP' })], usageMetadata });
    expect(last).toMatchObject([
      { choices: [{ index: 0, delta: { content: 'c' }, finish_reason: 'stop' }] },
      { choices: [], usage },
    ]);
    expect((last[0] as { choices: { delta: object }[] }).choices[0]?.delta).not.toHaveProperty('role');
    expect(reader.isComplete).toBe(true);
  });

  it('may say the usage before or after the end', () => {
    const before = readerFor();
    before.read({ candidates: [candidate([{ text: 'a' }])], usageMetadata });
    expect(before.read({ candidates: [{ finishReason: 'STOP' }] })).toMatchObject([{}, { choices: [], usage }]);
    const after = readerFor();
    expect(after.read({ candidates: [{ finishReason: 'STOP' }] })).toHaveLength(1);
    expect(after.read({ usageMetadata })).toMatchObject([{ choices: [], usage }]);
  });

  it('count the calls of one answer through', () => {
    const reader = readerFor();
    const callsIn = (response: Record<string, unknown>): unknown =>
      reader
        .read(response)
        .map(({ choices }) => (choices as { delta: { tool_calls?: object[] } }[])[0]?.delta.tool_calls);
    expect(callsIn({ candidates: [candidate([{ functionCall: { name: 'f', args: {} } }])] })).toMatchObject([
      [{ index: 0, function: { name: 'f' } }],
    ]);
    const last = candidate([{ functionCall: { name: 'g', args: {} } }], { finishReason: 'STOP' });
    expect(callsIn({ candidates: [last] })).toMatchObject([[{ index: 1, function: { name: 'g' } }]]);
    const end = readerFor();
    end.read({ candidates: [candidate([{ functionCall: { name: 'f', args: {} } }])] });
    expect(end.read({ candidates: [{ finishReason: 'STOP' }] })).toMatchObject([
      { choices: [{ finish_reason: 'tool_calls' }] },
    ]);
  });

  it('are a filtered answer where the prompt was blocked', () => {
    const reader = readerFor();
    expect(reader.read({ promptFeedback: { blockReason: 'SAFETY' }, usageMetadata })).toMatchObject([
      { choices: [{ index: 0, delta: { role: 'assistant' }, finish_reason: 'content_filter' }] },
      { choices: [], usage },
    ]);
    expect(reader.isComplete).toBe(true);
  });
});
