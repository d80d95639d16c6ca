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

describe('readChatStream()', () => {
  it('row 36, row 37: any byte split of any frame sequence reaches the caller as the same stream', async () => {
    await fc.assert(
      fc.asyncProperty(
        contents,
        fc.constantFrom('\n', '\r\n', '\r'),
        fc.array(fc.nat(), { maxLength: 30 }),
        async (texts, eol, places) => {
          const chunks = texts.map((content) => ({
            id: 'c',
            model: 'm',
            choices: [{ index: 0, delta: { content }, finish_reason: null }],
          }));
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
});
