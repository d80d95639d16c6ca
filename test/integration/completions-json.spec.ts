import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { ABORT_SEEN_MS } from '../support/abort-limits.js';
import { CompletionRig, messages } from '../support/completion-rig.js';
import { eventually } from '../support/eventually.js';
import { completion, json } from '../support/scripted-upstream.js';

describe('POST /v1/chat/completions, as JSON', () => {
  let rig: CompletionRig;

  beforeEach(async () => {
    rig = await CompletionRig.start();
  });
  afterEach(() => rig.close());

  it('passes the body on untouched but for the model and its own members', async () => {
    const text = `{ "seed":12345678901234567890,"temperature":1.0E0, "model":"test-alias","cache":true,"models":null,
      "messages":[{"role":"user","content":"\\u00e9 😀"}],"x_vendor":{"a":[1,2.50]} }`;
    await rig.ask(text);
    const [received] = rig.upstream.requests;
    expect(received?.path).toBe('/v1/chat/completions');
    expect(received?.body).toEqual({
      seed: Number('12345678901234567890'),
      temperature: 1,
      model: 'upstream-1',
      messages: [{ role: 'user', content: 'é 😀' }],
      x_vendor: { a: [1, 2.5] },
    });
    expect(received?.text).toContain('12345678901234567890');
    expect(received?.text).toContain('1.0E0');
    expect(received?.text).toContain('2.50');
  });

  it.each([
    ['{"model":"test-model","Model":"dearer"', 'Model'],
    ['{"\\u017ftream":true,"model":"test-model"', 'ſtream'],
    ['{"model":"test-model","max_tokens":2,"Max_Tokens":30000', 'Max_Tokens'],
    ['{"model":"test-model","N":100', 'N'],
    ['{"model":"test-model","max_tokens":30000,"max_tokens":2', 'max_tokens'],
    ['{"model":"dearer","\\u006dodel":"test-model"', 'model'],
  ])('refuses %s…}, which a provider may read as something else', async (head, param) => {
    const body = `${head},"messages":${JSON.stringify(messages)}}`;
    expect(await rig.ask(body)).toMatchObject({
      status: 400,
      body: { error: { code: 'invalid_request', param, message: expect.stringContaining(`"${param}"`) } },
    });
    expect(rig.upstream.requests).toEqual([]);
  });

  it('passes the answer on untouched but for model and usage.cost', async () => {
    const answer = JSON.stringify(completion('ok', { system_fingerprint: 'fp', x: 1 })).replace(
      '"created":1',
      '"created":1.50',
    );
    rig.upstream.play(json(200, `\n\n${answer}`));
    const { text, body, headers } = await rig.ask({ model: 'test-model', messages });
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
    await rig.ask(
      { model: 'test-model', messages },
      {
        authorization: 'Bearer callers-key',
        cookie: 'a=b',
        'x-coordinator-strict': 'true',
        'openai-organization': 'org',
        'x-forwarded-for': '1.2.3.4',
      },
    );
    const headers = rig.upstream.requests[0]?.headers ?? {};
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
    rig.upstream.play(json(status, { error: { message: 'no', type: 'x', code: null } }));
    const answer = await rig.ask({ model: 'test-model', messages });
    expect(rig.upstream.requests).toHaveLength(1);
    const expected = status === 401 || status === 403 || status === 404 ? 502 : status;
    expect(answer.status).toBe(expected);
    expect(answer.body).toMatchObject({ error: { message: expect.any(String), type: expect.any(String) } });
  });

  it('row 1: passes a 400 on in the provider’s words', async () => {
    rig.upstream.play(
      json(400, {
        error: { message: 'Invalid value', type: 'invalid_request_error', param: 'tools[0]', code: 'invalid_value' },
      }),
    );
    const { status, body } = await rig.ask({ model: 'test-model', messages });
    expect(status).toBe(400);
    expect(body).toEqual({
      error: { message: 'Invalid value', type: 'invalid_request_error', param: 'tools[0]', code: 'invalid_value' },
    });
  });

  it('row 17: a reset connection is a 502, tried again here and therefore not by the client', async () => {
    rig.upstream.play((_, response) => void response.socket?.resetAndDestroy());
    const answer = await rig.ask({ model: 'test-model', messages });
    expect(answer).toMatchObject({ status: 502, body: { error: { code: 'upstream_error' } } });
    expect(answer.headers.get('x-should-retry')).toBe('false');
    expect(rig.upstream.requests).toHaveLength(2);
  });

  it.each([
    ['no JSON', 'not json'],
    ['another JSON', '[]'],
    ['no choices', '{"id":"x"}'],
    ['half a JSON', '{"id":"x","choices":['],
    ['an error inside a 200', '{"error":{"message":"boom","type":"server_error"}}'],
  ])('answers 502 to %s', async (_, text) => {
    rig.upstream.play(json(200, text));
    expect(await rig.ask({ model: 'test-model', messages })).toMatchObject({
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
    rig.upstream.play(json(status, {}, { 'retry-after': '7', location: 'http://127.0.0.1:1/' }));
    // There is no time for what the provider asks for, so that it is not waited for.
    const answer = await rig.ask({ model: 'test-model', messages }, { 'x-coordinator-timeout-ms': '5000' });
    expect(answer).toMatchObject({ status: expected, body: { error: { code } } });
    if (status === 429) expect(answer.headers.get('retry-after')).toBe('7');
  });

  it('row 45: an answer that stalls within its body ends at the idle limit', async () => {
    await rig.close();
    rig = await CompletionRig.start({ timeouts: { idle: '400ms' } });
    rig.upstream.play((_, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.write('{"choices":');
    });
    expect(await rig.ask({ model: 'test-model', messages })).toMatchObject({
      status: 504,
      body: { error: { code: 'timeout' } },
    });
  });

  it('tells a failure whose body never comes by its status', async () => {
    rig.upstream.play(({ body }, response) => {
      response.writeHead(Number(body['user']), { 'content-type': 'application/json' });
      response.write('{"error":');
    });
    const failures = [429, 503, 400];
    const answers = failures.map((status) => rig.ask({ model: 'test-model', messages, user: String(status) }));
    expect((await Promise.all(answers)).map(({ status }) => status)).toEqual(failures);
  });

  it('takes any 2xx with a completion, and no empty error beside it for one', async () => {
    rig.upstream.play(json(201, completion('ok', { error: false })));
    expect((await rig.ask({ model: 'test-model', messages })).status).toBe(200);
  });

  it('counts a call once, also with usage beyond all counting', async () => {
    rig.upstream.play(json(200, completion('ok', { usage: { prompt_tokens: 1e308, completion_tokens: 1e308 } })));
    expect((await rig.ask({ model: 'test-model', messages })).status).toBe(200);
    const metrics = await (await fetch(`${rig.coordinator.url}/metrics`)).text();
    expect(metrics).not.toMatch(/coordinator_\S+ \+?Inf/);
  });

  it.each(['1e3', '0x10', '+5', '0', '-1', '1.5', 'soon', ' '])('does not take %j for a deadline', async (value) => {
    const answer = await rig.ask({ model: 'test-model', messages }, { 'x-coordinator-timeout-ms': value });
    expect(answer).toMatchObject({ status: 400, body: { error: { param: 'x-coordinator-timeout-ms' } } });
  });

  it('takes its own deadline where the one that is asked for is longer, however long', async () => {
    for (const value of ['1000000000', '99999999999', '9007199254740993', '9'.repeat(400), '0005000']) {
      const { status } = await rig.ask({ model: 'test-model', messages }, { 'x-coordinator-timeout-ms': value });
      expect([value, status]).toEqual([value, 200]);
    }
  });

  it('ends at the deadline that the request sets for itself', async () => {
    rig.upstream.play(() => undefined);
    const answer = await rig.ask({ model: 'test-model', messages }, { 'x-coordinator-timeout-ms': '1000' });
    expect(answer).toMatchObject({ status: 504, body: { error: { code: 'timeout' } } });
    expect(answer.headers.get('x-coordinator-attempts')).toBe('1');
  });

  it('row 43: a client that leaves before the first byte aborts the upstream within a second', async () => {
    rig.upstream.play(() => undefined);
    const client = new AbortController();
    const pending = rig.send({ model: 'test-model', messages }, {}, client.signal).catch((error: unknown) => error);
    await eventually(() => rig.upstream.requests.length === 1);
    client.abort();
    await pending;
    await eventually(() => rig.upstream.aborted === 1, ABORT_SEEN_MS);
  });
});
