import { Readable } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { readChatStream } from '../../../src/ai/upstream/openai.stream.js';
import type { AttemptRequest } from '../../../src/ai/upstream/provider.adapter.js';
import { ChunkWriter } from '../../../src/ai/call/chunk.writer.js';
import { sized } from '../../support/proof-scale.js';

const attempt: AttemptRequest = {
  deployment: {
    id: 'acme/m',
    provider: 'acme',
    model: 'm',
    limits: {},
    upstream: { name: 'acme', keyId: 'acme', kind: 'openai', baseUrl: 'http://127.0.0.1:9/v1', apiKey: 'secret-key' },
  },
  bodyText: '{}',
  body: {},
  choices: 1,
  maxOutputTokens: 100,
  headers: {},
  requestId: 'r',
  connectMs: 3_000,
  signal: new AbortController().signal,
  progressed: () => undefined,
  heard: () => undefined,
};

/** What a caller receives of bytes that come in these pieces. */
async function relayed(pieces: readonly Uint8Array[]): Promise<string> {
  const writer = new ChunkWriter({ model: 'catalogue-name', wantsUsage: false });
  let text = '';
  for await (const group of readChatStream(Readable.from(pieces), attempt)) {
    for (const event of group) if (event.kind !== 'comment') text += writer.write(event);
  }
  return text;
}

const contents = fc.array(
  fc.oneof(fc.string({ unit: 'grapheme' }), fc.constantFrom('你好😀é', 'e\u0301', '👩‍👩‍👧‍👦', '"\\n\r')),
  {
    minLength: 1,
    maxLength: 6,
  },
);

const said = (...choices: readonly object[]) => ({
  id: 'c',
  model: 'm',
  choices: choices.map((choice, index) => ({ index, ...choice })),
});

const USAGE = { id: 'c', model: 'm', choices: [], usage: { prompt_tokens: 1, completion_tokens: 0 } };

const framed = (...events: readonly unknown[]): Buffer[] =>
  [...events.map((event) => JSON.stringify(event)), '[DONE]'].map((data) => Buffer.from(`data: ${data}\n\n`));

describe('readChatStream()', () => {
  it('row 36, row 37: any byte split of any frame sequence reaches the caller as the same stream', async () => {
    await fc.assert(
      fc.asyncProperty(
        contents,
        fc.constantFrom('\n', '\r\n', '\r'),
        fc.array(fc.nat(), { maxLength: 30 }),
        async (texts, eol, places) => {
          const chunks = [
            ...texts.map((content) => said({ delta: { content }, finish_reason: null })),
            said({ delta: {}, finish_reason: 'stop' }),
          ];
          const frames = [...chunks.map((chunk) => JSON.stringify(chunk)), '[DONE]'];
          const bytes = Buffer.from(frames.map((data) => `data: ${data}${eol}${eol}`).join(''));
          const cuts = [...places.map((place) => place % bytes.length), 0, bytes.length].sort((a, b) => a - b);
          const pieces = cuts
            .slice(1)
            .map((end, index) => bytes.subarray(cuts[index], end))
            .filter(({ length }) => length > 0);
          const expected = chunks.map((chunk) => JSON.stringify({ ...chunk, model: 'catalogue-name' }));
          expect(await relayed(pieces)).toBe([...expected, '[DONE]'].map((data) => `data: ${data}\n\n`).join(''));
        },
      ),
      { numRuns: sized(300, 20_000) },
    );
  });

  it.each([
    ['nothing before it', []],
    ['the usage alone', [USAGE]],
    ['text without an end', [said({ delta: { content: 'Hel' }, finish_reason: null })]],
    ['text without an end, and its usage', [said({ delta: { content: 'Hel' } }), USAGE]],
    ['one answer of two that has no end', [said({ delta: { content: 'a' }, finish_reason: 'stop' }, { delta: {} })]],
  ])('row 39: does not take [DONE] for the end of an answer that has none: %s', async (_, events) => {
    await expect(relayed(framed(...events))).rejects.toMatchObject({
      blame: 'upstream',
      code: 'upstream_error',
      message: 'acme ended its stream before the answer was complete',
    });
  });

  it('takes [DONE] for the end once every answer has a reason for its own', async () => {
    const events = [
      said({ delta: { content: 'a' } }, { delta: {}, finish_reason: 'length' }),
      said({ finish_reason: 'stop' }),
    ];
    expect(await relayed(framed(...events))).toMatch(/data: \[DONE\]\n\n$/);
  });

  const failing = [
    'error',
    'abort',
    'aborted',
    'cancelled',
    'insufficient_system_resource',
    'network_error',
    'TIMEOUT',
  ];

  it.each(failing)('takes the end "%s" for a failure, before content and after it', async (finish_reason) => {
    const failure = { blame: 'upstream', code: 'upstream_error', message: expect.stringContaining(finish_reason) };
    const end = said({ delta: { content: '' }, finish_reason });
    await expect(relayed(framed(end))).rejects.toMatchObject(failure);
    await expect(relayed(framed(said({ delta: { content: 'Hel' } }), end))).rejects.toMatchObject(failure);
  });

  it('takes an end that nobody knows for one where something was said, and else for an answer of no use', async () => {
    const end = said({ delta: {}, finish_reason: 'eos' });
    for (const delta of [{ content: 'a' }, { reasoning: 'hm' }, { tool_calls: [{ index: 0 }] }])
      expect(await relayed(framed(said({ delta }), end))).toMatch(/"eos".*data: \[DONE\]\n\n$/s);
    const useless = { blame: 'deployment', code: 'upstream_error' };
    await expect(relayed(framed(said({ delta: { role: 'assistant' } }), end))).rejects.toMatchObject(useless);
    const usage = { prompt_tokens: 3, completion_tokens: 9 };
    await expect(relayed(framed({ ...end, usage }))).rejects.toMatchObject({ ...useless, usage });
  });

  it('takes an empty finish_reason for none yet', async () => {
    const events = [said({ delta: { content: 'a' }, finish_reason: '' }), said({ delta: {}, finish_reason: 'stop' })];
    expect(await relayed(framed(...events))).toMatch(/data: \[DONE\]\n\n$/);
    await expect(relayed(framed(...events.slice(0, 1)))).rejects.toMatchObject({ blame: 'upstream' });
  });

  it.each([
    ['a list within', { choices: [[]] }],
    ['text', { choices: 'x' }],
    ['an object', { choices: { 0: {} } }],
    ['a finish_reason that is a number', said({ delta: { content: 'a' }, finish_reason: 7 })],
  ])('does not take for choices: %s', async (_, chunk) => {
    await expect(relayed(framed(chunk, said({ finish_reason: 'stop' })))).rejects.toMatchObject({
      blame: 'upstream',
      code: 'upstream_error',
      message: 'acme sent something that is not a completion stream',
    });
  });
});
