import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { sized } from '../support/proof-scale.js';
import {
  chunksOf,
  completionOf,
  errorOf,
  startTestSimulator,
  streamedText,
  textOf,
  usageOf,
  type RawReply,
  type TestSimulator,
} from '../support/simulator.js';

let simulator: TestSimulator;

beforeAll(async () => {
  simulator = await startTestSimulator();
});
afterEach(() => simulator.reset());
afterAll(() => simulator.close());

const HARD_TEXT = '  Grüße 你好 😀 e\u0301 👩‍👩‍👧 שלום\n\n"quoted" \\ \u0000 end ';

const ask = (content: unknown, more: object = {}): Promise<RawReply> =>
  simulator.chat({ model: 'gpt-4.1', messages: [{ role: 'user', content }], ...more });

describe('POST /v1/chat/completions', () => {
  it('answers in the shape of OpenAI, with its headers', async () => {
    const reply = await ask('hi');
    expect(reply.status).toBe(200);
    expect(reply.headers).toMatchObject({
      'content-type': 'application/json',
      'x-request-id': expect.stringMatching(/^req_[0-9a-f]{24}$/),
      'openai-processing-ms': expect.stringMatching(/^\d+$/),
      'x-ratelimit-remaining-tokens': expect.stringMatching(/^\d+$/),
      'x-ratelimit-reset-requests': '6ms',
    });
    const body = completionOf(reply);
    expect(body).toMatchObject({ object: 'chat.completion', model: 'gpt-4.1' });
    expect(body.choices).toEqual([
      {
        index: 0,
        finish_reason: 'stop',
        logprobs: null,
        message: { role: 'assistant', content: textOf(reply), refusal: null, annotations: [] },
      },
    ]);
    const usage = usageOf(reply);
    expect(usage.total_tokens).toBe(usage.prompt_tokens + usage.completion_tokens);
    expect(usage).toMatchObject({ prompt_tokens: 1 + 7, completion_tokens_details: { reasoning_tokens: 0 } });
  });

  it('gives the same reply for the same seed and request, streamed or not, and another for another seed', async () => {
    const text = textOf(await ask('tell me'));
    expect(textOf(await ask('tell me', { user: 'x' }))).toBe(text);
    expect(streamedText((await ask('tell me', { stream: true })).text)).toBe(text);
    expect(textOf(await ask('tell me', { seed: 1 }))).not.toBe(text);
    const twin = await startTestSimulator();
    const other = await startTestSimulator({ seed: 8 });
    const body = { model: 'gpt-4.1', messages: [{ role: 'user', content: 'tell me' }] };
    expect(textOf(await twin.chat(body))).toBe(text);
    expect(textOf(await other.chat(body))).not.toBe(text);
    await Promise.all([twin.close(), other.close()]);
  });

  it('echoes what follows echo:, character by character', async () => {
    expect(textOf(await ask(`echo: ${HARD_TEXT}`))).toBe(HARD_TEXT);
    const parts = [
      { type: 'text', text: 'echo:one ' },
      { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
      { type: 'text', text: 'two' },
    ];
    expect(textOf(await ask(parts))).toBe('one two');
  });

  it('streams any text without ever splitting a code point', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'binary', maxLength: 200 }), async (text) => {
        const reply = await ask(`echo:${text}`, { stream: true });
        expect(streamedText(reply.text)).toBe(Buffer.from(text.replace(/^ /, '')).toString());
        expect(reply.text).not.toContain('\\ud');
      }),
      { numRuns: sized(50, 1_000) },
    );
  });

  it('writes as many words as asked for', async () => {
    expect(textOf(await ask('words:500 please')).split(' ')).toHaveLength(500);
  });

  it('streams role, text, finish reason and [DONE], without usage unless asked', async () => {
    const reply = await ask('echo: one two', { stream: true });
    expect(reply.headers['content-type']).toBe('text/event-stream; charset=utf-8');
    expect(reply.text.endsWith('data: [DONE]\n\n')).toBe(true);
    const chunks = chunksOf(reply.text);
    expect(chunks[0]?.choices[0]?.delta).toEqual({ role: 'assistant', content: '', refusal: null });
    expect(chunks.at(-1)?.choices).toEqual([{ index: 0, delta: {}, logprobs: null, finish_reason: 'stop' }]);
    for (const chunk of chunks) expect(chunk).not.toHaveProperty('usage');
  });

  it('tells usage in one more chunk without choices when asked, and null before', async () => {
    const chunks = chunksOf((await ask('echo: hi', { stream: true, stream_options: { include_usage: true } })).text);
    const last = chunks.pop();
    expect(last).toMatchObject({ choices: [], usage: { completion_tokens: 1 } });
    for (const chunk of chunks) expect(chunk.usage).toBeNull();
  });

  it('cuts at max_tokens and at a stop sequence', async () => {
    for (const key of ['max_tokens', 'max_completion_tokens']) {
      const reply = await ask('words:200', { [key]: 10 });
      expect(completionOf(reply).choices[0]?.finish_reason).toBe('length');
      expect(usageOf(reply).completion_tokens).toBe(10);
      expect(textOf(reply)).not.toBe('');
    }
    const stopped = completionOf(await ask('echo: one two three', { stop: ['three', ' two'] }));
    expect(stopped.choices[0]).toMatchObject({ finish_reason: 'stop', message: { content: 'one' } });
    const tiny = completionOf(await ask('words:500', { model: 'tiny' }));
    expect(tiny).toMatchObject({ choices: [{ finish_reason: 'length' }], usage: { completion_tokens: 50 } });
  });

  it('gives n different choices, also interleaved in a stream', async () => {
    const said = completionOf(await ask('hi', { n: 3 })).choices.map(({ message }) => message.content);
    expect(new Set(said).size).toBe(3);
    const chunks = chunksOf((await ask('hi', { n: 3, stream: true })).text);
    const deltas = chunks.flatMap(({ choices }) => choices);
    const streamed = said.map((_, choice) =>
      deltas.map(({ index, delta }) => (index === choice ? (delta.content ?? '') : '')).join(''),
    );
    expect(streamed).toEqual(said);
  });

  it('reports the cached part of a prompt prefix that it has seen', async () => {
    const history = [{ role: 'system', content: 'lorem ipsum '.repeat(700) }];
    const cached = async (question: string): Promise<number | undefined> => {
      const body = { model: 'gpt-4.1', messages: [...history, { role: 'user', content: question }] };
      return usageOf(await simulator.chat(body)).prompt_tokens_details?.cached_tokens;
    };
    expect(await cached('first')).toBe(0);
    const second = (await cached('second')) ?? 0;
    expect(second).toBeGreaterThanOrEqual(1_024);
    expect(second % 128).toBe(0);
    expect(usageOf(await ask('short')).prompt_tokens_details?.cached_tokens).toBe(0);
  });

  it('enforces the context window in the words of OpenAI', async () => {
    const long = errorOf(await ask('word '.repeat(250), { model: 'tiny' }));
    expect(long).toMatchObject({
      code: 'context_length_exceeded',
      type: 'invalid_request_error',
      param: 'messages',
    });
    expect(long.message).toContain('maximum context length is 200 tokens. However, your messages resulted in');
    const both = errorOf(await ask('word '.repeat(170), { model: 'tiny', max_tokens: 50 }));
    expect(both.code).toBe('context_length_exceeded');
    expect(both.message).toContain('50 in the completion');
    const output = errorOf(await ask('hi', { model: 'tiny', max_tokens: 51 }));
    expect(output).toMatchObject({ param: 'max_tokens', code: 'invalid_value' });
    const left = await ask(`words:99 ${'word '.repeat(180)}`, { model: 'tiny' });
    expect(usageOf(left).total_tokens).toBeLessThanOrEqual(200);
  });

  it('accepts a large body with a picture and counts no base64 as text', async () => {
    const url = `data:image/png;base64,${'A'.repeat(9_000_000)}`;
    const reply = await ask([
      { type: 'text', text: 'echo: seen' },
      { type: 'image_url', image_url: { url } },
    ]);
    expect(textOf(reply)).toBe('seen');
    expect(usageOf(reply).prompt_tokens).toBeLessThan(1_500);
  });
});
