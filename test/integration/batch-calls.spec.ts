import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { eventsOf, questions, resultsOf } from '../support/batch-app.js';
import { ABORT_SEEN_MS } from '../support/abort-limits.js';
import { CompletionRig } from '../support/completion-rig.js';
import { eventually } from '../support/eventually.js';
import { OpenApiDocument } from '../support/openapi-document.js';
import { type Json, record } from '../support/schema.checker.js';
import { completion, json } from '../support/scripted-upstream.js';

let rig: CompletionRig;
beforeEach(async () => {
  rig = await CompletionRig.start({ attempts: { perRequest: 1 } });
});
afterEach(() => rig.close());

const send = (body: object | string, headers: Record<string, string> = {}, signal?: AbortSignal): Promise<Response> =>
  fetch(`${rig.coordinator.url}/v1/chat/completions/batch`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
    ...(signal && { signal }),
  });
const ask = async (body: object, headers: Record<string, string> = {}): Promise<Json> =>
  record(await (await send(body, headers)).json());
const requests = questions(3).map((question) => ({ ...question, model: 'test-alias' }));

describe('a batch before a provider', () => {
  it('is answered as completions are, at their cost', async () => {
    const response = await send({ requests });
    const body = record(await response.json());
    expect(response.headers.get('x-coordinator-cost-usd')).toBe('0.000108');
    expect(resultsOf(body)).toMatchObject(
      [0, 1, 2].map((index) => ({ index, success: true, data: { model: 'test-model', usage: { cost: 0.000036 } } })),
    );
  });

  it('has failures with the status that each alone would have', async () => {
    rig.upstream.play((request, response) => {
      const isBad = request.text.includes('question 1');
      return json(
        isBad ? 400 : 200,
        isBad ? { error: { message: 'no', code: 'bad', param: 'messages' } } : completion(),
      )(request, response);
    });
    const body = await ask({ requests: [...requests, { model: 'nope', messages: [{ role: 'user', content: 'Hi' }] }] });
    expect(resultsOf(body).map(({ error }) => error && record(error)['status'])).toEqual([
      undefined,
      400,
      undefined,
      404,
    ]);
    expect(resultsOf(body)[1]).toMatchObject({ error: { code: 'bad', param: 'messages' } });
  });

  it('refuses the items alone in which a provider may read something else', async () => {
    const plain = JSON.stringify(requests[0]);
    const odd = ['"Model":"dearer"', '"\\u006dax_tokens":9,"max_tokens":1'].map((more) => `{${more},${plain.slice(1)}`);
    const body = record(await (await send(`{"requests":[${[...odd, plain].join(',')}]}`)).json());
    expect(resultsOf(body)).toMatchObject([
      { error: { status: 400, code: 'invalid_request', param: 'Model' } },
      { error: { status: 400, code: 'invalid_request', param: 'max_tokens' } },
      { success: true },
    ]);
    expect(rig.upstream.requests).toHaveLength(1);
  });

  it('sent again with its Idempotency-Key is not paid again, and does what was not done', async () => {
    const key = { 'idempotency-key': 'nightly' };
    rig.upstream.play((request, response) =>
      json(request.text.includes('question 2') ? 500 : 200, completion(request.text))(request, response),
    );
    const first = await ask({ requests }, key);
    expect(first).toMatchObject({ succeeded: 2, failed: 1 });
    rig.upstream.play(json(200, completion('late')));
    const second = await ask({ requests }, key);
    expect(second).toMatchObject({ succeeded: 3 });
    expect(rig.upstream.requests).toHaveLength(4);
    expect(resultsOf(second).slice(0, 2)).toEqual(resultsOf(first).slice(0, 2));
    const changed = await ask({ requests: [requests[1], requests[0], requests[2]] }, key);
    expect(resultsOf(changed).map(({ error }) => error && record(error)['code'])).toEqual([
      'idempotency_mismatch',
      'idempotency_mismatch',
      undefined,
    ]);
    expect(rig.upstream.requests).toHaveLength(4);
  });

  it('leaves its provider within a second of its client', async () => {
    rig.upstream.play(() => new Promise(() => undefined));
    const leaving = new AbortController();
    const left = send({ requests, concurrency: 2 }, {}, leaving.signal).catch(() => undefined);
    await eventually(() => rig.upstream.requests.length === 2);
    leaving.abort();
    await left;
    await eventually(() => rig.upstream.aborted === 2, ABORT_SEEN_MS);
    expect(rig.upstream.requests).toHaveLength(2);
  });

  it('tells its progress in events that the documentation has words for', async () => {
    const document = await OpenApiDocument.of(rig.coordinator.url);
    const events = eventsOf(await (await send({ requests }, { accept: 'text/event-stream' })).text());
    expect(events).toHaveLength(4);
    for (const [name, data] of events) {
      const schema = name === 'done' ? 'ChatCompletionBatch' : 'ChatCompletionBatchProgress';
      expect(document.faults({ $ref: `#/components/schemas/${schema}` }, data)).toEqual([]);
    }
    const documented = record(document.operation('createChatCompletionBatch').value['requestBody']);
    for (const { schema, examples } of document.media('request', documented)) {
      for (const example of examples) {
        expect(document.faults(schema, example)).toEqual([]);
        expect(await ask({ ...record(example), model: 'test-model' })).toMatchObject({ failed: 0 });
      }
    }
  });
});
