import { afterEach, describe, expect, it } from '@jest/globals';
import { eventually } from '../support/eventually.js';
import { messages, postCompletion, readAnswer } from '../support/completion-rig.js';
import { chunk, completion, DONE, finish, json, stream, usageChunk } from '../support/scripted-upstream.js';
import { FRONTEND, spanNamed, TraceRig, TRACEPARENT, treeOf } from '../support/trace-rig.js';

const FROM_FRONTEND = { traceparent: TRACEPARENT };
const question = { model: 'test-model', messages };

describe('Traces of calls that share, repeat or outlive a request', () => {
  let rig: TraceRig;

  afterEach(() => rig.close());

  it('links who joins a call, and who is given a kept answer, to the call that was made', async () => {
    rig = await TraceRig.start({ cacheTtl: '10m' });
    const { requests } = rig.upstreams[0];
    let answer = (): void => undefined;
    rig.upstreams[0].play(async (request, response) => {
      await new Promise<void>((resolve) => {
        answer = resolve;
      });
      await json(200, completion())(request, response);
    });
    const first = postCompletion(rig.url, question, FROM_FRONTEND);
    await eventually(() => requests.length === 1);
    const second = postCompletion(rig.url, question);
    await eventually(async () => (await metricsOf(rig)).includes('coordinator_joined_waiting 1'));
    answer();
    const outcomes = [await readAnswer(await first), await readAnswer(await second)];
    outcomes.push(await readAnswer(await postCompletion(rig.url, question)));
    expect(outcomes.map(({ headers }) => headers.get('x-coordinator-cache'))).toEqual(['miss', 'joined', 'hit']);
    const spans = (await rig.flushed()).filter(({ name }) => name === 'completion');
    const [made, ...others] = spans;
    expect(made).toMatchObject({ traceId: FRONTEND.traceId, links: [] });
    expect(others.map(({ links }) => links)).toEqual(
      others.map(() => [{ traceId: FRONTEND.traceId, spanId: made?.spanId }]),
    );
    expect(spans.map(({ events }) => events.map(({ name }) => name))).toEqual([
      ['cache miss'],
      ['cache joined'],
      ['cache hit'],
    ]);
  });

  it('links who joins a stream to the one whose stream it is', async () => {
    rig = await TraceRig.start({ cacheTtl: '10m' });
    rig.upstreams[0].play(stream([chunk('a'), { waitMs: 300 }, finish(), usageChunk(), DONE]));
    const first = postCompletion(rig.url, { ...question, stream: true }, FROM_FRONTEND);
    await eventually(() => rig.upstreams[0].requests.length === 1);
    const both = await Promise.all([first, postCompletion(rig.url, { ...question, stream: true })].map(read));
    expect(both.map(({ headers }) => headers.get('x-coordinator-cache')).sort()).toEqual(['joined', 'miss']);
    const spans = await rig.flushed();
    const made = spans.find(({ name, traceId }) => name === 'completion' && traceId === FRONTEND.traceId);
    const joined = spans.find(({ name, traceId }) => name === 'completion' && traceId !== FRONTEND.traceId);
    expect(joined?.links).toEqual([{ traceId: FRONTEND.traceId, spanId: made?.spanId }]);
  });

  it('has each item of a batch as a step of its own', async () => {
    rig = await TraceRig.start();
    const requests = ['one', 'two', 'three'].map((content) => ({ messages: [{ role: 'user', content }] }));
    const response = await fetch(`${rig.url}/v1/chat/completions/batch`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-request-id': 'b', ...FROM_FRONTEND },
      body: JSON.stringify({ model: 'test-model', requests }),
    });
    expect(response.status).toBe(200);
    await response.text();
    const spans = await rig.flushed();
    expect(treeOf(spans)).toEqual([
      'POST /v1/chat/completions/batch',
      ...requests.flatMap(() => ['  completion', '    chat upstream-1']),
    ]);
    const items = spans.filter(({ name }) => name === 'completion');
    expect(items.map(({ attributes }) => attributes['coordinator.request.id']).sort()).toEqual(['b.0', 'b.1', 'b.2']);
  });

  it('has a turn that outlives its request as a step of the request', async () => {
    rig = await TraceRig.start();
    rig.upstreams[0].play(stream([chunk('a'), { waitMs: 400 }, chunk('b'), finish(), usageChunk(), DONE]));
    const conversation = await post('/v1/conversations', { model: 'test-model' });
    const { id } = JSON.parse(conversation.text) as { id: string };
    const leave = new AbortController();
    const path = `${rig.url}/v1/conversations/${id}/turns`;
    const response = await fetch(path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...FROM_FRONTEND },
      body: JSON.stringify({ content: 'PROMPT', stream: true }),
      signal: leave.signal,
    });
    await response.body?.getReader().read();
    leave.abort();
    const spans = await rig.flushed();
    expect(treeOf(spans)).toEqual([
      'POST /v1/conversations/:id/turns',
      '  conversation turn',
      '    completion',
      '      chat upstream-1',
    ]);
    const request = spanNamed(spans, 'POST /v1/conversations/:id/turns');
    const turn = spanNamed(spans, 'conversation turn');
    expect(request.attributes['error.type']).toBe('client_gone');
    expect(turn.attributes['coordinator.turn.status']).toBe('complete');
    expect(turn.endNano).toBeGreaterThan(request.endNano);
    expect(request.events.map(({ name }) => name)).toContain('lock wait');
    expect(JSON.stringify(request.events)).not.toContain(id);
    expect(rig.upstreams[0].requests[0]?.headers['traceparent']).toContain(
      `${FRONTEND.traceId}-${spanNamed(spans, 'chat upstream-1').spanId}`,
    );
  });

  it('says on the attempt’s and the call’s steps what a stream that breaks off was', async () => {
    rig = await TraceRig.start();
    rig.upstreams[0].play(stream([chunk('a'), 'data: {"error":{"message":"WORDS"}}\n\n']));
    await readAnswer(await postCompletion(rig.url, { ...question, stream: true }, FROM_FRONTEND));
    const spans = await rig.flushed();
    for (const name of ['completion', 'chat upstream-1']) {
      expect(spanNamed(spans, name)).toMatchObject({ status: 2, attributes: { 'error.type': 'upstream_error' } });
    }
    expect(rig.collector.text).not.toContain('WORDS');
  });

  async function post(path: string, body: unknown) {
    const response = await fetch(`${rig.url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    return readAnswer(response);
  }
});

async function read(answer: Promise<Response>) {
  return readAnswer(await answer);
}

async function metricsOf({ url }: TraceRig): Promise<string> {
  return (await fetch(`${url}/metrics`)).text();
}
