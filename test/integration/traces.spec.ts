import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { messages, postCompletion, readAnswer } from '../support/completion-rig.js';
import { chunk, DONE, finish, json, stream, usageChunk } from '../support/scripted-upstream.js';
import { FRONTEND, spanNamed, TraceRig, TRACEPARENT, treeOf } from '../support/trace-rig.js';

const question = { model: 'test-model', messages };
const FROM_FRONTEND = { traceparent: TRACEPARENT, tracestate: 'vendor=abc' };

describe('One trace from the frontend to the upstream', () => {
  let rig: TraceRig;

  beforeEach(async () => {
    rig = await TraceRig.start({ attempts: { firstBackoffMs: '1ms', longestBackoffMs: '1ms' } });
  });
  afterEach(() => rig.close());

  it('goes on from the caller’s traceparent, through the request and the call, to the attempt that the provider is told of', async () => {
    const answer = await readAnswer(await postCompletion(rig.url, question, FROM_FRONTEND));
    expect(answer.status).toBe(200);
    const spans = await rig.flushed();
    expect(treeOf(spans)).toEqual(['POST /v1/chat/completions', '  completion', '    chat upstream-1']);
    expect(new Set(spans.map(({ traceId }) => traceId))).toEqual(new Set([FRONTEND.traceId]));
    const { headers } = rig.upstreams[0].requests[0] ?? {};
    const attempt = spanNamed(spans, 'chat upstream-1');
    expect(headers?.['traceparent']).toBe(`00-${FRONTEND.traceId}-${attempt.spanId}-01`);
    expect(headers?.['tracestate']).toBe('vendor=abc');
  });

  it('tells of the request and of the attempt by the semantic conventions', async () => {
    await readAnswer(
      await postCompletion(rig.url, { model: 'test-alias', messages, max_tokens: 7 }, { 'x-request-id': 'r-1' }),
    );
    const spans = await rig.flushed();
    const request = spanNamed(spans, 'POST /v1/chat/completions');
    expect(request).toMatchObject({ kind: 2, status: 0, parentSpanId: '' });
    expect(request.attributes).toEqual({
      'http.request.method': 'POST',
      'http.route': '/v1/chat/completions',
      'url.path': '/v1/chat/completions',
      'url.scheme': 'http',
      'network.protocol.version': '1.1',
      'http.response.status_code': 200,
      'coordinator.request.id': 'r-1',
    });
    expect(spanNamed(spans, 'completion').attributes).toMatchObject({
      'coordinator.model': 'test-model',
      'coordinator.provider': 'p1',
      'coordinator.route': 'alias',
      'coordinator.cache': 'bypass',
      'coordinator.attempts': 1,
      'coordinator.cost_usd': 0.000036,
    });
    const attempt = spanNamed(spans, 'chat upstream-1');
    expect(attempt).toMatchObject({ kind: 3, status: 0 });
    expect(attempt.attributes).toEqual({
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'p1',
      'gen_ai.request.model': 'upstream-1',
      'gen_ai.request.max_tokens': 7,
      'gen_ai.response.model': 'upstream-model',
      'gen_ai.response.finish_reasons': ['stop'],
      'gen_ai.usage.input_tokens': 10,
      'gen_ai.usage.output_tokens': 2,
      'gen_ai.usage.cache_read.input_tokens': 0,
      'gen_ai.usage.reasoning.output_tokens': 0,
      'server.address': '127.0.0.1',
      'server.port': Number(new URL(rig.upstreams[0].url).port),
      'coordinator.model': 'test-model',
      'coordinator.deployment': 'p1/upstream-1',
      'coordinator.attempt': 1,
      'coordinator.route': 'alias',
    });
    expect(attempt.resource).toMatchObject({ 'service.name': 'ai-api-coordinator', 'service.version': 'test' });
  });

  it('shows every attempt, and why another deployment was asked', async () => {
    rig.upstreams[0].play(json(503, { error: { message: 'SECRET words of the provider' } }));
    const answer = await readAnswer(await postCompletion(rig.url, question, FROM_FRONTEND));
    expect(answer.status).toBe(200);
    const spans = await rig.flushed();
    expect(treeOf(spans)).toEqual([
      'POST /v1/chat/completions',
      '  completion',
      ...Array.from({ length: rig.upstreams[0].requests.length }, () => '    chat upstream-1'),
      '    chat upstream-2',
    ]);
    const failed = spans.filter(({ name }) => name === 'chat upstream-1');
    expect(failed.map(({ status, attributes }) => [status, attributes['error.type']])).toEqual(
      failed.map(() => [2, 'overloaded']),
    );
    // Each provider was told of its own attempt.
    const told = rig.upstreams.flatMap(({ requests }) => requests.map(({ headers }) => headers['traceparent']));
    const attempts = spans.filter(({ name }) => name.startsWith('chat ')).map(({ spanId }) => spanId);
    expect(told.map((header) => String(header).split('-')[2]).sort()).toEqual(attempts.sort());
    expect(spanNamed(spans, 'completion').events.map(({ name }) => name)).toContain('fallback');
  });

  it('ends with the stream, and tells of its first content', async () => {
    rig.upstreams[0].play(stream([chunk('a'), { waitMs: 60 }, chunk('b'), finish('length'), usageChunk(), DONE]));
    await readAnswer(await postCompletion(rig.url, { model: 'test-model', messages, stream: true }, FROM_FRONTEND));
    const spans = await rig.flushed();
    const attempt = spanNamed(spans, 'chat upstream-1');
    expect(attempt.attributes).toMatchObject({
      'gen_ai.request.stream': true,
      'gen_ai.response.finish_reasons': ['length'],
      'gen_ai.usage.input_tokens': 10,
      'gen_ai.usage.output_tokens': 2,
    });
    expect(Number(attempt.attributes['gen_ai.response.time_to_first_chunk'])).toBeGreaterThan(0);
    for (const name of ['POST /v1/chat/completions', 'completion', 'chat upstream-1']) {
      const { startNano, endNano } = spanNamed(spans, name);
      expect(endNano - startNano).toBeGreaterThan(50_000_000n);
    }
  });

  it('says client_gone of a caller that leaves in the middle', async () => {
    rig.upstreams[0].play(stream([chunk('a')], { ends: false }));
    const leave = new AbortController();
    const response = await postCompletion(
      rig.url,
      { model: 'test-model', messages, stream: true },
      FROM_FRONTEND,
      leave.signal,
    );
    await response.body?.getReader().read();
    leave.abort();
    const spans = await rig.flushed();
    expect(treeOf(spans)).toEqual(['POST /v1/chat/completions', '  completion', '    chat upstream-1']);
    expect(spans.map(({ attributes }) => attributes['error.type'])).toEqual(Array(3).fill('client_gone'));
  });

  it('begins a trace of its own where traceparent is not valid', async () => {
    const invalid = [
      'nonsense',
      '',
      `00-${'0'.repeat(32)}-${FRONTEND.spanId}-01`,
      `00-${FRONTEND.traceId}-${'0'.repeat(16)}-01`,
      `ff-${FRONTEND.traceId}-${FRONTEND.spanId}-01`,
      `00-${FRONTEND.traceId}-${FRONTEND.spanId}-01-more`,
      `00-${FRONTEND.traceId.toUpperCase()}-${FRONTEND.spanId}-01`,
      `${TRACEPARENT}, ${TRACEPARENT}`,
    ];
    for (const traceparent of invalid) {
      const response = await postCompletion(rig.url, question, { traceparent, tracestate: 'a=1' });
      expect([traceparent, response.status]).toEqual([traceparent, 200]);
      await response.text();
    }
    const requests = (await rig.flushed()).filter(({ name }) => name === 'POST /v1/chat/completions');
    expect(requests.map(({ parentSpanId }) => parentSpanId)).toEqual(invalid.map(() => ''));
    const traces = requests.map(({ traceId }) => traceId);
    expect(new Set([...traces, FRONTEND.traceId]).size).toBe(invalid.length + 1);
    const told = rig.upstreams[0].requests.map(({ headers }) => headers);
    expect(told.map(({ traceparent }) => String(traceparent).split('-')[1])).toEqual(traces);
    expect(told.filter(({ tracestate }) => tracestate !== undefined)).toEqual([]);
  });

  it('records nothing that the caller does not, and passes that on', async () => {
    const traceparent = `00-${FRONTEND.traceId}-${FRONTEND.spanId}-00`;
    await readAnswer(await postCompletion(rig.url, question, { traceparent }));
    expect(await rig.flushed()).toEqual([]);
    const told = String(rig.upstreams[0].requests[0]?.headers['traceparent']);
    expect(told).toMatch(new RegExp(`^00-${FRONTEND.traceId}-[0-9a-f]{16}-00$`));
    expect(told).not.toContain(FRONTEND.spanId);
  });

  it('writes the trace into the outcome line', async () => {
    await readAnswer(await postCompletion(rig.url, question, FROM_FRONTEND));
    const spans = await rig.flushed();
    const lines = rig.coordinator
      .logs()
      .split('\n')
      .filter((line) => line.includes('"msg":"request"'))
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatchObject({
      trace_id: FRONTEND.traceId,
      span_id: spanNamed(spans, 'POST /v1/chat/completions').spanId,
    });
  });

  it('leaves out what machines poll', async () => {
    for (const path of ['/health', '/ready', '/metrics']) await (await fetch(`${rig.url}${path}`)).text();
    await (await fetch(`${rig.url}/nowhere/secret-path?key=secret`)).text();
    const spans = await rig.flushed();
    expect(spans.map(({ name, attributes }) => [name, attributes['http.response.status_code']])).toEqual([
      ['GET', 404],
    ]);
  });
});
