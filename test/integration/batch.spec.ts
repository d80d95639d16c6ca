import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { ApiError } from '../../src/http/index.js';
import {
  BatchApp,
  contentOf,
  DEADLINE_MS,
  echo,
  eventsOf,
  gated,
  messages,
  questions,
  request,
  resultsOf,
} from '../support/batch-app.js';
import { eventually } from '../support/eventually.js';
import { pass } from '../support/pass.js';
import { type Json, record } from '../support/schema.checker.js';

let app: BatchApp;
beforeEach(async () => {
  app = await BatchApp.start();
});
afterEach(() => app.close());

const answerOf = ({ data }: Json): unknown =>
  record(record((record(data)['choices'] as unknown[])[0])['message'])['content'];

describe('POST /v1/chat/completions/batch', () => {
  it('answers in the order of the requests, whatever order they end in', async () => {
    app.script = async (call) => {
      await pass(Number(contentOf(call.body)));
      return echo(call);
    };
    const { status, body } = await app.ask({ requests: [30, 1, 15].map((ms) => request(String(ms))) });
    expect([status, body]).toMatchObject([200, { object: 'chat.completion.batch', total: 3, succeeded: 3, failed: 0 }]);
    expect(resultsOf(body).map((result) => [result['index'], result['success'], answerOf(result)])).toEqual([
      [0, true, '30'],
      [1, true, '1'],
      [2, true, '15'],
    ]);
  });

  it.each([
    [undefined, 5],
    [1, 1],
    [50, 50],
  ])('with a concurrency of %s has %s under way at one time', async (concurrency, most) => {
    const gate = gated();
    app.script = gate.script;
    const answer = app.ask({ requests: questions(60), concurrency });
    await eventually(() => app.open === most);
    gate.open();
    expect(resultsOf((await answer).body)).toHaveLength(60);
    expect(app.most).toBe(most);
  });

  it('takes a thousand', async () => {
    const { body } = await app.ask({ requests: questions(1_000), concurrency: 50 });
    expect(body).toMatchObject({ total: 1_000, succeeded: 1_000 });
    expect(resultsOf(body).map(answerOf)).toEqual(questions(1_000).map((_, at) => `question ${at}`));
  });

  it('lets an item that is refused or fails do so alone, with what it alone would be answered', async () => {
    app.script = (call) => {
      if (contentOf(call.body) !== 'fail') return echo(call);
      throw new ApiError('rate_limit_exceeded', 'no room', { retryAfterMs: 1_500 });
    };
    const { status, body } = await app.ask({
      requests: [request('ok'), 5, { model: 'm' }, { messages }, request('x', { stream: true }), request('fail')],
    });
    expect([status, body]).toMatchObject([200, { succeeded: 1, failed: 5 }]);
    expect(resultsOf(body).map(({ error }) => error && [record(error)['status'], record(error)['param']])).toEqual([
      undefined,
      [400, null],
      [400, 'messages'],
      [400, 'model'],
      [400, 'stream'],
      [429, null],
    ]);
    expect(resultsOf(body)[5]).toEqual({
      index: 5,
      success: false,
      error: {
        ...{ message: 'no room', type: 'rate_limit_error', param: null, code: 'rate_limit_exceeded' },
        ...{ status: 429, retry_after_ms: 1_500 },
      },
    });
    expect(app.calls).toHaveLength(2);
  });

  it('tells nobody what nobody foresaw, but the log', async () => {
    app.script = () => Promise.reject(new TypeError('secret'));
    const { body } = await app.ask({ requests: questions(1) }, { 'x-request-id': 'req-7' });
    expect(resultsOf(body)[0]).toMatchObject({
      error: { code: 'internal_error', message: 'internal error; request id req-7' },
    });
    expect(app.logs()).toContainEqual(
      expect.objectContaining({
        msg: 'unforeseen error',
        request_id: 'req-7',
        item: 0,
        err: expect.objectContaining({ message: 'secret' }),
      }),
    );
  });

  it('makes each item a call of its own, on the terms of the request', async () => {
    await app.ask(
      { model: 'outer', requests: [{ messages }, request('b', { stream: false })] },
      { 'x-request-id': 'req-7', 'x-coordinator-strict': 'true', 'openai-beta': 'x=1', 'cache-control': 'no-cache' },
    );
    const [first, second] = app.calls;
    expect(first).toMatchObject({
      request: { model: 'outer' },
      bodyText: '{"messages":[{"role":"user","content":"Hi"}],"model":"outer"}',
      caller: { id: 'acme' },
      requestId: 'req-7.0',
      isStrict: true,
      forwardedHeaders: { 'openai-beta': 'x=1' },
      deadlineMs: DEADLINE_MS,
    });
    expect(second).toMatchObject({ requestId: 'req-7.1', body: request('b', { stream: false }) });
    expect(app.terms).toEqual([{ cacheControl: 'no-cache' }, { cacheControl: 'no-cache' }]);
  });

  it('makes of an Idempotency-Key one for each item, the same each time', async () => {
    for (const key of ['one', 'one', 'two']) await app.ask({ requests: questions(2) }, { 'idempotency-key': key });
    const keys = app.terms.map(({ idempotencyKey }) => idempotencyKey);
    expect(keys.slice(0, 2)).toEqual(keys.slice(2, 4));
    expect(new Set(keys).size).toBe(4);
    for (const key of keys) expect(key).toMatch(/^batch:[0-9a-f]{64}:[01]$/);
  });

  it('sums up in the log and in metrics what its items came to', async () => {
    app.script = (call) => {
      if (contentOf(call.body) === 'question 2') throw new ApiError('overloaded', 'no');
      Object.assign(call.report, {
        model: 'm',
        provider: 'p',
        attempts: 1,
        promptTokens: 10,
        completionTokens: 2,
        costUsd: 0.1,
      });
      return echo(call);
    };
    const { headers } = await app.ask({ requests: questions(4) });
    expect(headers.get('x-coordinator-cost-usd')).toBe('0.3');
    await eventually(() => app.logs().some(({ msg }) => msg === 'request'));
    expect(app.logs().find(({ msg }) => msg === 'request')).toMatchObject({
      ...{ route: '/v1/chat/completions/batch', status: 200, items: 4, failed_items: 1 },
      ...{ attempts: 3, prompt_tokens: 30, completion_tokens: 6, cost_usd: 0.3 },
    });
    const metrics = await app.metrics();
    expect(metrics).toContain('coordinator_completions_total{model="m",provider="p",outcome="ok"} 3');
    expect(metrics).toContain('coordinator_completions_total{model="none",provider="none",outcome="overloaded"} 1');
  });

  it.each([
    [{ requests: [] }, 'requests'],
    [{ requests: Array(1_001).fill(1) }, 'requests'],
    [{ requests: [1], concurrency: 51 }, 'concurrency'],
    ['[]', null],
  ])('refuses as a whole %#', async (given, param) => {
    const { status, body } = await app.ask(given);
    expect([status, body]).toMatchObject([400, { error: { code: 'invalid_request', param } }]);
    expect(app.calls).toEqual([]);
  });

  it('refuses as a whole headers that are wrong, and who may not', async () => {
    for (const [name, value] of [
      ['x-coordinator-timeout-ms', 'soon'],
      ['x-coordinator-strict', 'yes'],
      ['idempotency-key', 'ä'],
    ] as const) {
      expect((await app.ask({ requests: questions(1) }, { [name]: value })).status).toBe(400);
    }
    expect((await app.ask({ requests: questions(1) }, { authorization: 'Bearer wrong' })).status).toBe(401);
    expect(app.calls).toEqual([]);
  });
});

describe('a batch with Accept: text/event-stream', () => {
  it('tells of each item as it ends, then of all', async () => {
    app.script = async (call) => {
      await pass(Number(contentOf(call.body)));
      return echo(call);
    };
    const response = await app.send(
      { requests: [request('400'), request('1'), {}, request('200')], concurrency: 4 },
      { accept: 'text/event-stream' },
    );
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/event-stream; charset=utf-8']);
    const events = eventsOf(await response.text());
    expect(events.map(([name]) => name)).toEqual([...Array<string>(4).fill('progress'), 'done']);
    expect(
      events.slice(0, 4).map(([, data]) => [data['completed'], data['total'], data['index'], data['success']]),
    ).toEqual([
      [1, 4, 2, false],
      [2, 4, 1, true],
      [3, 4, 3, true],
      [4, 4, 0, true],
    ]);
    expect(events[0]?.[1]['error']).toMatchObject({ code: 'invalid_request', status: 400 });
    const done = events.at(-1)?.[1] ?? {};
    expect(done).toMatchObject({ succeeded: 3, failed: 1 });
    expect(resultsOf(done).map(({ index }) => index)).toEqual([0, 1, 2, 3]);
  });

  it('is refused with a status where it is refused as a whole', async () => {
    const { status, body } = await app.ask({ requests: [] }, { accept: 'text/event-stream' });
    expect([status, record(body['error'])['param']]).toEqual([400, 'requests']);
  });
});
