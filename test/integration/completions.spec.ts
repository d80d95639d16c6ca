import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { type Coordinator, startCoordinator } from '../support/coordinator.js';
import {
  chunk,
  completion,
  DONE,
  event,
  finish,
  json,
  type ScriptedUpstream,
  startScriptedUpstream,
  stream,
  usageChunk,
} from '../support/scripted-upstream.js';

const messages = [{ role: 'user', content: 'Hi' }];

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly body: Record<string, unknown>;
}

describe('POST /v1/chat/completions', () => {
  let upstream: ScriptedUpstream;
  let coordinator: Coordinator;

  beforeAll(async () => {
    upstream = await startScriptedUpstream();
    coordinator = await startCoordinator({ upstreams: [upstream.url], timeouts: { idle: '400ms', connect: '500ms' } });
  });
  afterEach(() => {
    upstream.requests.length = 0;
    upstream.aborted = 0;
    upstream.play(json(200, completion()));
  });
  afterAll(async () => {
    await coordinator.close();
    await upstream.close();
  });

  const send = (body: unknown, headers: Record<string, string> = {}, signal?: AbortSignal): Promise<Response> =>
    fetch(`${coordinator.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: typeof body === 'string' ? body : JSON.stringify(body),
      ...(signal && { signal }),
    });

  const ask = async (body: unknown, headers: Record<string, string> = {}): Promise<Answer> => {
    const response = await send(body, headers);
    const text = await response.text();
    const isJson = response.headers.get('content-type')?.startsWith('application/json') === true;
    return {
      status: response.status,
      headers: response.headers,
      text,
      body: isJson ? (JSON.parse(text) as Answer['body']) : {},
    };
  };
  const askStream = (more: Record<string, unknown> = {}): Promise<Answer> =>
    ask({ model: 'test-model', messages, stream: true, ...more });

  describe('as JSON', () => {
    it('passes the body on untouched but for the model and its own members', async () => {
      const text = `{ "seed":12345678901234567890,"temperature":1.0E0, "model":"test-alias","cache":true,"models":null,
        "messages":[{"role":"user","content":"\\u00e9 😀"}],"x_vendor":{"a":[1,2.50]} }`;
      await ask(text);
      const [received] = upstream.requests;
      expect(received?.path).toBe('/v1/chat/completions');
      expect(received?.body).toEqual({
        seed: JSON.parse('12345678901234567890'),
        temperature: 1,
        model: 'upstream-1',
        messages: [{ role: 'user', content: 'é 😀' }],
        x_vendor: { a: [1, 2.5] },
      });
      expect(received?.text).toContain('12345678901234567890');
      expect(received?.text).toContain('1.0E0');
      expect(received?.text).toContain('2.50');
    });

    it('passes the answer on untouched but for model and usage.cost', async () => {
      const answer = JSON.stringify(completion('ok', { system_fingerprint: 'fp', x: 1 })).replace(
        '"created":1',
        '"created":1.50',
      );
      upstream.play(json(200, `\n\n${answer}`));
      const { text, body, headers } = await ask({ model: 'test-model', messages });
      expect(body).toEqual({
        ...completion('ok', { system_fingerprint: 'fp', x: 1 }),
        created: 1.5,
        model: 'test-model',
        usage: { prompt_tokens: 10, completion_tokens: 2, total_tokens: 12, cost: 0.000036 },
      });
      expect(text).toContain('1.50');
      expect(headers.get('x-coordinator-cost-usd')).toBe('0.000036');
      expect(headers.get('x-coordinator-model')).toBe('test-model');
      expect(headers.get('x-coordinator-provider')).toBe('p1');
      expect(headers.get('x-coordinator-route')).toBe('requested');
      expect(headers.get('x-coordinator-attempts')).toBe('1');
      expect(Number(headers.get('x-coordinator-total-ms'))).toBeGreaterThanOrEqual(
        Number(headers.get('x-coordinator-upstream-ms')),
      );
    });

    it('row 51: the provider sees its own key, and neither the caller’s key, cookies nor headers of ours', async () => {
      await ask(
        { model: 'test-model', messages },
        {
          authorization: 'Bearer callers-key',
          cookie: 'a=b',
          'x-coordinator-strict': 'true',
          'openai-organization': 'org',
          'x-forwarded-for': '1.2.3.4',
        },
      );
      const headers = upstream.requests[0]?.headers ?? {};
      expect(headers.authorization).toBe('Bearer upstream-key-1');
      const ours = [
        'host',
        'connection',
        'accept',
        'authorization',
        'content-type',
        'content-length',
        'user-agent',
        'x-request-id',
      ];
      expect(Object.keys(headers).filter((name) => !ours.includes(name))).toEqual([]);
    });

    it.each([400, 401, 403, 404, 413, 422])('row 1: asks once when the provider answers %d', async (status) => {
      upstream.play(json(status, { error: { message: 'no', type: 'x', code: null } }));
      const answer = await ask({ model: 'test-model', messages });
      expect(upstream.requests).toHaveLength(1);
      const expected = status === 401 || status === 403 || status === 404 ? 502 : status;
      expect(answer.status).toBe(expected);
      expect(answer.body).toMatchObject({ error: { message: expect.any(String), type: expect.any(String) } });
    });

    it('row 1: passes a 400 on in the provider’s words', async () => {
      upstream.play(
        json(400, {
          error: { message: 'Invalid value', type: 'invalid_request_error', param: 'tools[0]', code: 'invalid_value' },
        }),
      );
      const { status, body } = await ask({ model: 'test-model', messages });
      expect(status).toBe(400);
      expect(body).toEqual({
        error: { message: 'Invalid value', type: 'invalid_request_error', param: 'tools[0]', code: 'invalid_value' },
      });
    });

    it('row 17: a reset connection is a 502', async () => {
      upstream.play((_, response) => void response.socket?.resetAndDestroy());
      expect(await ask({ model: 'test-model', messages })).toMatchObject({
        status: 502,
        body: { error: { code: 'upstream_error' } },
      });
    });

    it.each([
      ['no JSON', 'not json'],
      ['another JSON', '[]'],
      ['no choices', '{"id":"x"}'],
      ['half a JSON', '{"id":"x","choices":['],
      ['an error inside a 200', '{"error":{"message":"boom","type":"server_error"}}'],
    ])('answers 502 to %s', async (_, text) => {
      upstream.play(json(200, text));
      expect(await ask({ model: 'test-model', messages })).toMatchObject({
        status: 502,
        body: { error: { code: 'upstream_error' } },
      });
    });

    it.each([
      [429, 'rate_limit_exceeded', 429],
      [500, 'upstream_error', 502],
      [503, 'overloaded', 503],
      [529, 'overloaded', 503],
      [504, 'timeout', 504],
      [302, 'upstream_error', 502],
    ])('maps %d to %s', async (status, code, expected) => {
      upstream.play(json(status, {}, { 'retry-after': '7', location: 'http://127.0.0.1:1/' }));
      const answer = await ask({ model: 'test-model', messages });
      expect(answer).toMatchObject({ status: expected, body: { error: { code } } });
      if (status === 429) expect(answer.headers.get('retry-after')).toBe('7');
    });

    it('row 45: an answer that stalls within its body ends at the idle limit', async () => {
      upstream.play((_, response) => {
        response.writeHead(200, { 'content-type': 'application/json' });
        response.write('{"choices":');
      });
      expect(await ask({ model: 'test-model', messages })).toMatchObject({
        status: 504,
        body: { error: { code: 'timeout' } },
      });
    });

    it('ends at the deadline that the request sets for itself', async () => {
      upstream.play(() => undefined);
      const answer = await ask({ model: 'test-model', messages }, { 'x-coordinator-timeout-ms': '200' });
      expect(answer).toMatchObject({ status: 504, body: { error: { code: 'timeout' } } });
      expect(answer.headers.get('x-coordinator-attempts')).toBe('1');
    });

    it('row 43: a client that leaves before the first byte aborts the upstream within a second', async () => {
      upstream.play(() => undefined);
      const client = new AbortController();
      const pending = send({ model: 'test-model', messages }, {}, client.signal).catch((error: unknown) => error);
      await until(() => upstream.requests.length === 1);
      client.abort();
      await pending;
      await until(() => upstream.aborted === 1);
    });
  });

  describe('as a stream', () => {
    it('asks for usage and takes it out again when the caller did not ask', async () => {
      upstream.play(
        stream([
          chunk({ role: 'assistant', content: '' }, { usage: null }),
          chunk('Hi', { usage: null }),
          finish(),
          usageChunk(),
          DONE,
        ]),
      );
      const { text, headers } = await askStream({ stream_options: { include_obfuscation: false } });
      expect(upstream.requests[0]?.body['stream_options']).toEqual({ include_obfuscation: false, include_usage: true });
      expect(text).not.toContain('usage');
      expect(text.endsWith('data: [DONE]\n\n')).toBe(true);
      expect(dataOf(text).map(({ model }) => model)).toEqual(['test-model', 'test-model', 'test-model']);
      expect(headers.get('content-type')).toContain('text/event-stream');
      expect(headers.get('cache-control')).toBe('no-cache');
      expect(headers.get('x-accel-buffering')).toBe('no');
      expect(headers.get('x-coordinator-cost-usd')).toBeNull();
    });

    it('gives usage with its cost when the caller asked', async () => {
      upstream.play(stream([chunk('Hi', { usage: null }), finish(), usageChunk(), DONE]));
      const { text } = await askStream({ stream_options: { include_usage: true } });
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
      ['a reset after the role', [chunk({ role: 'assistant' }), 'RESET' as const], 502, 'upstream_error'],
    ])('answers a true status to %s', async (_, steps, status, code) => {
      upstream.play(stream(steps));
      expect(await askStream()).toMatchObject({ status, body: { error: { code } } });
    });

    it.each([
      ['a reset', [chunk('a'), chunk('b'), chunk('c'), 'RESET' as const]],
      ['a clean end without [DONE]', [chunk('a'), chunk('b'), chunk('c')]],
      ['garbage', [chunk('a'), chunk('b'), chunk('c'), 'data: <html>\n\n']],
      ['bytes that are not JSON objects', [chunk('a'), chunk('b'), chunk('c'), 'data: 1\n\n']],
      ['an error event', [chunk('a'), chunk('b'), chunk('c'), event({ error: { message: 'boom' } })]],
      ['an error by event name', [chunk('a'), chunk('b'), chunk('c'), 'event: error\ndata: {"message":"boom"}\n\n']],
    ])('row 39: %s mid-stream becomes an error frame, and no [DONE] follows', async (_, steps) => {
      upstream.play(stream(steps));
      const { status, text } = await askStream();
      expect(status).toBe(200);
      const data = dataOf(text);
      expect(contentOf(text)).toBe('abc');
      expect(data.at(-1)).toEqual({
        error: { message: expect.any(String), type: 'api_error', param: null, code: 'upstream_error' },
      });
      expect(text).not.toContain('[DONE]');
    });

    it('row 45: a stream that stalls ends with an error frame at the idle limit, keep-alive comments or not', async () => {
      const pings = Array.from({ length: 30 }, () => [': ping\n\n', { waitMs: 50 }]).flat();
      upstream.play(stream([chunk('a'), ...pings, chunk('b'), DONE]));
      const { text } = await askStream();
      expect(contentOf(text)).toBe('a');
      expect(dataOf(text).at(-1)).toMatchObject({ error: { code: 'timeout' } });
      await until(() => upstream.aborted === 1);
    });

    it('takes an end without [DONE] for complete once every choice has finished', async () => {
      upstream.play(stream([chunk('a'), finish()]));
      const { text } = await askStream();
      expect(text.endsWith('data: [DONE]\n\n')).toBe(true);
      expect(text).not.toContain('error');
    });

    it('row 36: characters that arrive one byte at a time come out whole', async () => {
      const content = '你好😀é e\u0301 👩‍👩‍👧‍👦';
      const bytes = Buffer.from(chunk(content) + finish() + DONE);
      upstream.play(async (_, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        for (const byte of bytes) {
          response.write(Buffer.of(byte));
          await new Promise((resolve) => setImmediate(resolve));
        }
        response.end();
      });
      const { text } = await askStream();
      expect(contentOf(text)).toBe(content);
      expect(text.endsWith('data: [DONE]\n\n')).toBe(true);
    });

    it.each(['\r\n', '\r'])('row 37: reads lines that end in %j', async (eol) => {
      upstream.play(stream([(chunk('a') + chunk('b') + finish() + DONE).replaceAll('\n', eol)]));
      expect(contentOf((await askStream()).text)).toBe('ab');
    });

    it('row 43: a client that leaves mid-stream aborts the upstream within a second', async () => {
      upstream.play(stream(Array.from({ length: 60 }, () => [chunk('a'), { waitMs: 100 }]).flat()));
      const client = new AbortController();
      const response = await send({ model: 'test-model', messages, stream: true }, {}, client.signal);
      await response.body?.getReader().read();
      client.abort();
      await until(() => upstream.aborted === 1);
    });

    it('reads from the provider no faster than the caller does', async () => {
      const piece = chunk('x'.repeat(60_000));
      let written = 0;
      upstream.play(async (_, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        for (; written < 400; written += 1) {
          if (!response.write(piece)) await once(response, 'drain');
        }
        response.end();
      });
      const client = new AbortController();
      const response = await send({ model: 'test-model', messages, stream: true }, {}, client.signal);
      await new Promise((resolve) => setTimeout(resolve, 300));
      const early = written;
      await new Promise((resolve) => setTimeout(resolve, 300));
      expect(written).toBe(early);
      expect(written).toBeLessThan(400);
      client.abort();
      await response.text().catch(() => undefined);
    });
  });

  describe('refuses', () => {
    it.each([
      ['a body that is no object', '[1]', undefined],
      ['no messages', { model: 'test-model' }, 'messages'],
      ['empty messages', { model: 'test-model', messages: [] }, 'messages'],
      ['a message without a role', { model: 'test-model', messages: [{ content: 'x' }] }, 'messages[0].role'],
      ['no model', { messages }, 'model'],
      ['a model that is no string', { model: 7, messages }, 'model'],
      ['stream that is no boolean', { model: 'test-model', messages, stream: 'yes' }, 'stream'],
      ['max_tokens of zero', { model: 'test-model', messages, max_tokens: 0 }, 'max_tokens'],
    ])('%s with a 400 that names it', async (_, body, param) => {
      const answer = await ask(body);
      expect(answer).toMatchObject({
        status: 400,
        body: { error: { type: 'invalid_request_error', param: param ?? null } },
      });
      expect(upstream.requests).toHaveLength(0);
    });

    it('a dry run rather than calling', async () => {
      const response = await fetch(`${coordinator.url}/v1/chat/completions?dryRun=true`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'test-model', messages }),
      });
      expect(response.status).toBe(400);
      expect(upstream.requests).toHaveLength(0);
    });

    it('an unknown model with 404 model_not_found', async () => {
      expect(await ask({ model: 'nope', messages })).toMatchObject({
        status: 404,
        body: { error: { code: 'model_not_found', param: 'model' } },
      });
    });
  });

  it('row 63: health checks reach no provider', async () => {
    for (let poll = 0; poll < 200; poll += 1) {
      const [health, ready] = await Promise.all([
        fetch(`${coordinator.url}/health`),
        fetch(`${coordinator.url}/ready`),
      ]);
      await Promise.all([health.text(), ready.text()]);
      expect([health.status, ready.status]).toEqual([200, 200]);
    }
    expect(upstream.requests).toHaveLength(0);
  });

  it('row 66: takes a picture of 9 MB', async () => {
    const url = `data:image/png;base64,${'A'.repeat(9_000_000)}`;
    const content = [{ type: 'image_url', image_url: { url } }];
    expect((await ask({ model: 'test-model', messages: [{ role: 'user', content }] })).status).toBe(200);
    expect(upstream.requests[0]?.text).toContain(url);
  });
});

describe('with two deployments', () => {
  it('goes on to the next when the first fails before any content, and says so', async () => {
    const [first, second] = [await startScriptedUpstream(json(500, {})), await startScriptedUpstream()];
    const coordinator = await startCoordinator({ upstreams: [first.url, second.url] });
    try {
      const response = await fetch(`${coordinator.url}/v1/chat/completions`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'test-model', messages }),
      });
      expect(response.status).toBe(200);
      expect(response.headers.get('x-coordinator-provider')).toBe('p2');
      expect(response.headers.get('x-coordinator-attempts')).toBe('2');
      expect(second.requests[0]?.body['model']).toBe('upstream-2');
    } finally {
      await coordinator.close();
      await Promise.all([first.close(), second.close()]);
    }
  });
});

function dataOf(text: string): Record<string, unknown>[] {
  return text
    .split('\n\n')
    .filter((frame) => frame.startsWith('data: {'))
    .map((frame) => JSON.parse(frame.slice(6)) as Record<string, unknown>);
}

function contentOf(text: string): string {
  return dataOf(text)
    .flatMap(({ choices }) => (choices as { delta: { content?: string } }[] | undefined) ?? [])
    .map(({ delta }) => delta.content ?? '')
    .join('');
}

/** A second at most: what design and the cases promise for an abort. */
async function until(isSo: () => boolean): Promise<void> {
  const end = Date.now() + 1_000;
  while (!isSo()) {
    if (Date.now() > end) throw new Error('did not come true within a second');
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

async function once(emitter: NodeJS.EventEmitter, name: string): Promise<void> {
  await new Promise<void>((resolve) => {
    emitter.once(name, () => {
      resolve();
    });
  });
}
