import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { HealthModule } from '../../src/health/index.js';
import { CompletionRig, dataOf, messages, type Answer } from '../support/completion-rig.js';
import { startHttpApp } from '../support/http-app.js';
import { OpenApiDocument } from '../support/openapi-document.js';
import { record, type Json } from '../support/schema.checker.js';
import { chunk, completion, DONE, finish, json, stream, usageChunk } from '../support/scripted-upstream.js';

const key = { authorization: 'Bearer a-key-0123456789' };
const error = (code: string): unknown => ({ error: { message: 'no', type: 't', param: null, code } });
const toolCall = { id: 'call_1', type: 'function', function: { name: 'f', arguments: '{}' } };

/** The headers that have to be documented wherever they are sent. */
const OURS = /^(x-request-id|x-coordinator-.*|retry-after.*|x-should-retry|openai-.*|www-authenticate)$/;

let rig: CompletionRig;
let document: OpenApiDocument;
beforeAll(async () => {
  rig = await CompletionRig.start({
    environment: { CALLER_KEYS: 'acme:free:a-key-0123456789' },
    tiers: { free: ['test-model'], pro: [], enterprise: [] },
  });
  document = await OpenApiDocument.of(rig.coordinator.url);
});
afterAll(() => rig.close());

const get = async (path: string, headers: Record<string, string> = key): Promise<Answer> =>
  read(await fetch(`${rig.coordinator.url}${path}`, { headers }));

async function read(response: Response): Promise<Answer> {
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.startsWith('application/json') === true;
  return { status: response.status, headers: response.headers, text, body: isJson ? record(JSON.parse(text)) : {} };
}

/** The answer has a documented status, its body conforms, and its headers of ours are documented. */
function expectDocumented(operationId: string, { status, headers, text, body }: Answer): void {
  const response = document.response(document.operation(operationId), status);
  expect([operationId, status, response]).toEqual([operationId, status, expect.anything()]);
  const type = headers.get('content-type')?.split(';')[0];
  const media = document.media('', response ?? {}).find((candidate) => candidate.type === type);
  const value = type === 'application/json' ? body : text;
  expect([type, document.faults(media?.schema ?? { missing: type }, value)]).toEqual([type, []]);
  expectDocumentedHeaders(headers, record(response?.['headers']));
}

function expectDocumentedHeaders(headers: Headers, documented: Json): void {
  const ours = [...headers.keys()].filter((name) => OURS.test(name));
  expect(Object.keys(documented)).toEqual(expect.arrayContaining(ours));
  for (const name of ours) {
    const { schema } = document.follow(documented[name]);
    const sent = headers.get(name);
    const isNumber = ['integer', 'number'].includes(String(record(schema)['type']));
    expect([name, document.faults(schema, isNumber ? Number(sent) : sent)]).toEqual([name, []]);
  }
}

const ask = (body: object = {}, headers: Record<string, string> = {}) =>
  rig.ask({ model: 'test-model', messages, ...body }, { ...key, ...headers });

describe('what the server answers, against its OpenAPI document', () => {
  it('a completion, in text and with tool calls', async () => {
    for (const choice of [{ content: 'Hello!' }, { content: null, refusal: null, tool_calls: [toolCall] }]) {
      const reply = { index: 0, message: { role: 'assistant', ...choice }, logprobs: null, finish_reason: 'stop' };
      const headers = { 'openai-processing-ms': '12', 'openai-version': '2020-10-01' };
      rig.upstream.play(json(200, completion('', { choices: [reply] }), headers));
      const answer = await ask();
      expectDocumented('createChatCompletion', answer);
      expect(answer.headers.get('x-coordinator-cost-usd')).not.toBeNull();
    }
  });

  it('a stream, chunk by chunk', async () => {
    const calls = chunk({ tool_calls: [{ index: 0, ...toolCall }] });
    rig.upstream.play(stream([chunk({ role: 'assistant' }), chunk('Hi'), calls, finish(), usageChunk(), DONE]));
    const answer = await ask({ stream: true, stream_options: { include_usage: true } });
    expectDocumented('createChatCompletion', answer);
    const chunks = dataOf(answer.text);
    expect(chunks).toHaveLength(5);
    for (const value of chunks)
      expect(document.faults({ $ref: '#/components/schemas/ChatCompletionChunk' }, value)).toEqual([]);
    expect(record(chunks.at(-1)?.['usage'])).toHaveProperty('cost');
  });

  it('a dry run, with a price and without one', async () => {
    const own = await CompletionRig.start();
    try {
      for (const model of ['test-model', 'small-model']) {
        const answer = await read(
          await fetch(`${own.coordinator.url}/v1/chat/completions?dryRun=true`, {
            method: 'POST',
            headers: { 'content-type': 'application/json' },
            body: JSON.stringify({ model, messages }),
          }),
        );
        expectDocumented('createChatCompletion', answer);
        expect([answer.body['object'], answer.body['cost_usd'] === null]).toEqual([
          'chat.completion.dry_run',
          model === 'small-model',
        ]);
      }
    } finally {
      await own.close();
    }
  });

  it('refusals of its own', async () => {
    const strict = { 'x-coordinator-strict': 'true' };
    const answers = [
      await ask({ n: 0 }),
      await ask({}, { authorization: 'Bearer wrong' }),
      await ask({ model: 'small-model' }, strict),
      await ask({ model: 'nope' }),
      await ask({}, { 'content-type': 'text/plain' }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([400, 401, 403, 404, 415]);
    for (const answer of answers) expectDocumented('createChatCompletion', answer);
  });

  it('the models', async () => {
    expectDocumented('listModels', await get('/v1/models'));
    expectDocumented('listModels', await get('/v1/models', {}));
    expectDocumented('retrieveModel', await get('/v1/models/test-alias'));
    expectDocumented('retrieveModel', await get('/v1/models/small-model'));
    expectDocumented('retrieveModel', await get('/v1/models/nope'));
  });

  it('a batch, as JSON and with its progress, and one that is refused', async () => {
    const batch = (body: object, accept = 'application/json') =>
      fetch(`${rig.coordinator.url}/v1/chat/completions/batch`, {
        method: 'POST',
        headers: { ...key, accept, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
    rig.upstream.play(json(200, completion()));
    const requests = [{ messages }, { messages, n: 0 }];
    for (const accept of ['application/json', 'text/event-stream']) {
      expectDocumented('createChatCompletionBatch', await read(await batch({ model: 'test-model', requests }, accept)));
    }
    expectDocumented('createChatCompletionBatch', await read(await batch({ requests: [] })));
  });

  it('what was used, in sums and call by call', async () => {
    rig.upstream.play(json(200, completion()));
    await ask();
    for (const query of ['', '?date=2020-01-01', '?date=never', '?caller=somebody']) {
      expectDocumented('getUsage', await get(`/v1/usage${query}`));
    }
    for (const query of ['', '?limit=0', '?caller=somebody']) {
      expectDocumented('exportLedger', await get(`/v1/usage/ledger${query}`));
    }
  });

  it('probes and metrics, which want no key', async () => {
    expectDocumented('getHealth', await get('/health', {}));
    expectDocumented('getReadiness', await get('/ready', {}));
    expectDocumented('getMetrics', await get('/metrics', {}));
  });

  it('a pod that is not ready', async () => {
    const store = { kind: 'redis', policy: 'degrade', downForMs: 60_000 } as const;
    const upstreams = [{ provider: 'p1', models: ['m'], state: 'key refused' }] as const;
    const health = HealthModule.forRoot({ phase: () => 'draining', store: () => store, upstreams: () => upstreams });
    const pod = await startHttpApp({ imports: [health] });
    const answer = await read(await fetch(`${pod.url}/ready`));
    await pod.close();
    expect(answer.status).toBe(503);
    expectDocumented('getReadiness', answer);
  });
});

/** Each with a coordinator of its own: what a key or a deployment was told, the next one would still know. */
describe('what the server answers to what its provider answers', () => {
  it.each([
    [400, 400, 'content_filter'],
    [400, 400, 'context_length_exceeded'],
    [401, 502, 'invalid_api_key'],
    [402, 429, 'insufficient_quota'],
    [413, 413, 'too_large'],
    [422, 422, 'unsupported_value'],
    [429, 429, 'rate_limit_exceeded'],
    [500, 502, 'server_error'],
    [503, 503, 'overloaded'],
    [504, 504, 'timeout'],
  ])('%i', async (theirs, ours, code) => {
    const own = await CompletionRig.start();
    try {
      own.upstream.play(json(theirs, error(code), { 'retry-after': '2' }));
      const answer = await own.ask({ model: 'test-model', messages }, { 'x-coordinator-timeout-ms': '1500' });
      expect(answer.status).toBe(ours);
      expectDocumented('createChatCompletion', answer);
    } finally {
      await own.close();
    }
  });
});
