import { once } from 'node:events';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { ABORT_SEEN_MS } from '../support/abort-limits.js';
import { CompletionRig, contentOf, dataOf, messages } from '../support/completion-rig.js';
import { eventually } from '../support/eventually.js';
import { pass } from '../support/pass.js';
import { chunk, DONE, event, finish, RESET, stream, usageChunk } from '../support/scripted-upstream.js';

describe('POST /v1/chat/completions, as a stream', () => {
  let rig: CompletionRig;

  beforeEach(async () => {
    rig = await CompletionRig.start();
  });
  afterEach(() => rig.close());

  it('asks for usage and takes it out again when the caller did not ask', async () => {
    rig.upstream.play(
      stream([
        chunk({ role: 'assistant', content: '' }, { usage: null }),
        chunk('Hi', { usage: null }),
        finish(),
        usageChunk(),
        DONE,
      ]),
    );
    const { text, headers } = await rig.askStream({ stream_options: { include_obfuscation: false } });
    expect(rig.upstream.requests[0]?.body['stream_options']).toEqual({
      include_obfuscation: false,
      include_usage: true,
    });
    expect(text).not.toContain('usage');
    expect(text.endsWith('data: [DONE]\n\n')).toBe(true);
    expect(dataOf(text).map(({ model }) => model)).toEqual(['test-model', 'test-model', 'test-model']);
    expect(headers.get('content-type')).toContain('text/event-stream');
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('x-accel-buffering')).toBe('no');
    expect(headers.get('x-coordinator-cost-usd')).toBeNull();
  });

  it('gives usage with its cost when the caller asked', async () => {
    rig.upstream.play(stream([chunk('Hi', { usage: null }), finish(), usageChunk(), DONE]));
    const { text } = await rig.askStream({ stream_options: { include_usage: true } });
    expect(dataOf(text).at(-1)).toMatchObject({
      choices: [],
      usage: { prompt_tokens: 10, completion_tokens: 2, cost: 0.000036 },
    });
  });

  it.each([
    [
      'an error as the first event',
      [event({ error: { message: 'busy', type: 'overloaded_error' } })],
      503,
      'overloaded',
    ],
    [
      'an error after the role',
      [chunk({ role: 'assistant' }), event({ error: { message: 'x', code: 429 } })],
      429,
      'rate_limit_exceeded',
    ],
    ['nothing', [], 502, 'upstream_error'],
    ['comments alone', [': ping\n\n'], 502, 'upstream_error'],
    ['garbage', ['data: {"choices"\n\n'], 502, 'upstream_error'],
    ['a reset after the role', [chunk({ role: 'assistant' }), RESET], 502, 'upstream_error'],
  ])('answers a true status to %s', async (_, steps, status, code) => {
    rig.upstream.play(stream(steps));
    expect(await rig.askStream()).toMatchObject({ status, body: { error: { code } } });
  });

  it.each([
    ['a reset', [chunk('a'), chunk('b'), chunk('c'), RESET]],
    ['a clean end without [DONE]', [chunk('a'), chunk('b'), chunk('c')]],
    ['garbage', [chunk('a'), chunk('b'), chunk('c'), 'data: <html>\n\n']],
    ['bytes that are not JSON objects', [chunk('a'), chunk('b'), chunk('c'), 'data: 1\n\n']],
    ['an error event', [chunk('a'), chunk('b'), chunk('c'), event({ error: { message: 'boom' } })]],
    ['an error by event name', [chunk('a'), chunk('b'), chunk('c'), 'event: error\ndata: {"message":"boom"}\n\n']],
  ])('row 39: %s mid-stream becomes an error frame, and no [DONE] follows', async (_, steps) => {
    rig.upstream.play(stream(steps));
    const { status, text } = await rig.askStream();
    expect(status).toBe(200);
    const data = dataOf(text);
    expect(contentOf(text)).toBe('abc');
    expect(data.at(-1)).toEqual({
      error: { message: expect.any(String), type: 'api_error', param: null, code: 'upstream_error' },
    });
    expect(text).not.toContain('[DONE]');
  });

  it('row 45: a stream that stalls ends with an error frame at the idle limit, keep-alive comments or not', async () => {
    await rig.close();
    rig = await CompletionRig.start({ timeouts: { idle: '400ms' } });
    const pings = Array.from({ length: 30 }, () => [': ping\n\n', { waitMs: 50 }]).flat();
    rig.upstream.play(stream([chunk('a'), ...pings, chunk('b'), DONE]));
    const { text } = await rig.askStream();
    expect(contentOf(text)).toBe('a');
    expect(dataOf(text).at(-1)).toMatchObject({ error: { code: 'timeout' } });
    await eventually(() => rig.upstream.aborted === 1, ABORT_SEEN_MS);
  });

  it('ends a stream that is finished and that the provider leaves open, as if it had been ended', async () => {
    rig.upstream.play(stream([chunk('a'), finish(), usageChunk()], { ends: false }));
    const { text } = await rig.askStream({ stream_options: { include_usage: true } });
    expect(contentOf(text)).toBe('a');
    expect(dataOf(text).at(-1)).toMatchObject({ usage: { cost: 0.000036 } });
    expect(text.endsWith('data: [DONE]\n\n')).toBe(true);
    await eventually(() => rig.upstream.aborted === 1, ABORT_SEEN_MS);
    const metrics = await (await fetch(`${rig.coordinator.url}/metrics`)).text();
    expect(metrics).toMatch(/coordinator_completions_total\{[^}]*outcome="ok"[^}]*\} 1/);
  });

  it('does not take an end without [DONE] for complete while a choice that was asked for is missing', async () => {
    rig.upstream.play(stream([chunk('a'), finish()]));
    const { text } = await rig.askStream({ n: 2 });
    expect(dataOf(text).at(-1)).toMatchObject({ error: { code: 'upstream_error' } });
    expect(text).not.toContain('[DONE]');
  });

  it.each([
    ['comments', ':\n'.repeat(1_000), 200],
    ['roles', chunk({ role: 'assistant', content: '' }).repeat(400), 502],
  ])('does not hold back endless %s before the first content', async (_, piece, status) => {
    rig.upstream.play(
      stream([...Array.from({ length: 60 }, () => [piece, { waitMs: 1 }]).flat(), chunk('a'), finish(), DONE]),
    );
    const before = process.memoryUsage().heapUsed;
    const answer = await rig.askStream();
    expect(answer.status).toBe(status);
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(150_000_000);
  });

  it.each(['"x","usage":', ''])(
    'keeps usage that is no object, or beyond all counting, from breaking a frame',
    async (duplicate) => {
      const odd = chunk('a').replace(
        '"model"',
        `"usage":${duplicate}{"prompt_tokens":1e308,"completion_tokens":1},"model"`,
      );
      rig.upstream.play(stream([odd, finish(), DONE]));
      const { text } = await rig.askStream({ stream_options: { include_usage: true } });
      expect(contentOf(text)).toBe('a');
      expect(text).not.toContain('Infinity');
      expect(text.endsWith('data: [DONE]\n\n')).toBe(true);
    },
  );

  it('takes an end without [DONE] for complete once every choice has finished', async () => {
    rig.upstream.play(stream([chunk('a'), finish()]));
    const { text } = await rig.askStream();
    expect(text.endsWith('data: [DONE]\n\n')).toBe(true);
    expect(text).not.toContain('error');
  });

  it('row 36: characters that arrive one byte at a time come out whole', async () => {
    const content = '你好😀é e\u0301 👩‍👩‍👧‍👦';
    const bytes = Buffer.from(chunk(content) + finish() + DONE);
    rig.upstream.play(async (_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      for (const byte of bytes) {
        response.write(Buffer.of(byte));
        await new Promise((resolve) => setImmediate(resolve));
      }
      response.end();
    });
    const { text } = await rig.askStream();
    expect(contentOf(text)).toBe(content);
    expect(text.endsWith('data: [DONE]\n\n')).toBe(true);
  });

  it.each(['\r\n', '\r'])('row 37: reads lines that end in %j and come in two pieces', async (eol) => {
    const wire = (chunk('a') + chunk('b') + finish() + DONE).replaceAll('\n', eol);
    const middle = wire.indexOf('"b"') + 2;
    rig.upstream.play(stream([wire.slice(0, middle), { waitMs: 20 }, wire.slice(middle)]));
    expect(contentOf((await rig.askStream()).text)).toBe('ab');
  });

  it('row 43: a client that leaves mid-stream aborts the upstream within a second', async () => {
    rig.upstream.play(stream(Array.from({ length: 60 }, () => [chunk('a'), { waitMs: 100 }]).flat()));
    const client = new AbortController();
    const response = await rig.send({ model: 'test-model', messages, stream: true }, {}, client.signal);
    await response.body?.getReader().read();
    client.abort();
    await eventually(() => rig.upstream.aborted === 1, ABORT_SEEN_MS);
  });

  it('row 43: so it does where the upstream has fallen silent', async () => {
    const slow = await CompletionRig.start();
    slow.upstream.play(stream([chunk('a')], { ends: false }));
    const client = new AbortController();
    const response = await slow.send({ model: 'test-model', messages, stream: true }, {}, client.signal);
    await response.body?.getReader().read();
    client.abort();
    await eventually(() => slow.upstream.aborted === 1, ABORT_SEEN_MS);
    await slow.close();
  });

  it('reads from the provider no faster than the caller does', async () => {
    const piece = chunk('x'.repeat(60_000));
    let written = 0;
    rig.upstream.play(async (_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      for (; written < 400; written += 1) {
        if (!response.write(piece)) await once(response, 'drain');
      }
      response.end();
    });
    const client = new AbortController();
    const response = await rig.send({ model: 'test-model', messages, stream: true }, {}, client.signal);
    await eventually(async () => {
      const before = written;
      await pass(300);
      return written > 0 && written === before;
    });
    expect(written).toBeLessThan(400);
    client.abort();
    await response.text().catch(() => undefined);
  });
});
