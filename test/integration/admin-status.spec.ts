import { afterEach, describe, expect, it } from '@jest/globals';
import { hash } from 'node:crypto';
import { messages } from '../support/completion-rig.js';
import { type Coordinator, startCoordinator } from '../support/coordinator.js';
import { eventually } from '../support/eventually.js';
import { OpenApiDocument } from '../support/openapi-document.js';
import { type Json, record } from '../support/schema.checker.js';
import {
  completion,
  json,
  type Script,
  type ScriptedUpstream,
  startScriptedUpstream,
} from '../support/scripted-upstream.js';

const OPERATOR = 'operator-key-0123456789';
const FRONTEND = 'frontend-key-0123456789';
const callers = [
  { name: 'ops', keySha256: hash('sha256', OPERATOR), tier: 'enterprise', scopes: ['chat', 'admin'] },
  { name: 'app', keySha256: hash('sha256', FRONTEND), tier: 'enterprise' },
];

/** What a provider says of a key, and answers to completions. */
const provider =
  (usage: Script, answer: Script = json(200, completion())): Script =>
  (request, response) =>
    request.path.endsWith('/usage') ? usage(request, response) : answer(request, response);
const worth = (members: object): Script => json(200, members);

let upstreams: ScriptedUpstream[] = [];
let coordinator: Coordinator;
afterEach(async () => {
  await coordinator.close();
  for (const upstream of upstreams) await upstream.close();
  upstreams = [];
});

async function start(...scripts: readonly Script[]): Promise<void> {
  for (const script of scripts) upstreams.push(await startScriptedUpstream(script));
  coordinator = await startCoordinator({
    upstreams: upstreams.map(({ url }) => url),
    usagePath: '/usage',
    attempts: { firstBackoffMs: 1, longestBackoffMs: 1 },
    callers,
  });
}

interface Told {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly body: Json;
}

async function status(key = OPERATOR): Promise<Told> {
  const response = await fetch(`${coordinator.url}/v1/status`, { headers: { authorization: `Bearer ${key}` } });
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, body: record(JSON.parse(text)) };
}

function ask(model = 'test-model'): Promise<Response> {
  return fetch(`${coordinator.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${FRONTEND}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model, messages }),
  });
}

const list = (value: unknown): readonly Json[] => (Array.isArray(value) ? value.map(record) : []);
const upstreamNamed = async (name: string): Promise<Json> =>
  list((await status()).body['upstreams']).find(({ key }) => key === name) ?? {};
const deploymentNamed = async (name: string): Promise<Json> =>
  list((await status()).body['models'])
    .flatMap(({ deployments }) => list(deployments))
    .find(({ deployment }) => deployment === name) ?? {};

describe('GET /v1/status', () => {
  it('tells what each key is worth by its provider, and which is refused', async () => {
    await start(provider(worth({ tier: 'pro', remaining: 12.5, remainingUnit: 'usd' })), provider(json(403, {})));
    await eventually(async () => (await upstreamNamed('p2'))['parked'] !== null);
    expect(list((await status()).body['upstreams'])).toEqual([
      {
        provider: 'p1',
        key: 'p1',
        kind: 'openai',
        state: 'in use',
        tier: 'pro',
        quota_left: 12.5,
        quota_unit: 'usd',
        stale: false,
        parked: null,
        parked_left_ms: 0,
      },
      {
        provider: 'p2',
        key: 'p2',
        kind: 'openai',
        state: 'key refused',
        tier: null,
        quota_left: null,
        quota_unit: null,
        stale: false,
        parked: 'refused',
        parked_left_ms: expect.any(Number),
      },
    ]);
  });

  it('says that a key is taken for a free one while its provider cannot be asked', async () => {
    await start(provider(json(500, {})));
    await eventually(async () => (await upstreamNamed('p1'))['tier'] !== null);
    expect(await upstreamNamed('p1')).toMatchObject({
      tier: 'free',
      quota_left: 1_000,
      quota_unit: 'requests',
      stale: true,
    });
  });

  it('shows what is left after calls, and what the provider says of its rate limits', async () => {
    const limits = {
      'x-ratelimit-limit-requests': '500',
      'x-ratelimit-remaining-requests': '499',
      'x-ratelimit-reset-requests': '59s',
    };
    await start(provider(worth({ tier: 'enterprise', remaining: 10 }), json(200, completion(), limits)));
    await eventually(async () => (await upstreamNamed('p1'))['tier'] !== null);
    expect((await ask()).status).toBe(200);
    expect(await upstreamNamed('p1')).toMatchObject({ quota_left: 9 });
    const [limit] = list((await deploymentNamed('p1/upstream-1'))['rate_limits']);
    expect(limit).toMatchObject({ unit: 'requests', limit: 500, remaining: 499 });
    expect(limit?.['reset_ms']).toBeGreaterThan(0);
  });

  it('shows a deployment that is left alone, for how long, and why', async () => {
    await start(provider(worth({ tier: 'enterprise' }), json(500, {})), provider(worth({ tier: 'enterprise' })));
    expect(await deploymentNamed('p1/upstream-1')).toMatchObject({
      state: 'closed',
      retry_after_ms: 0,
      last_failure: null,
    });
    for (let call = 0; call < 2; call += 1) expect((await ask()).headers.get('x-coordinator-provider')).toBe('p2');
    const left = await deploymentNamed('p1/upstream-1');
    expect(left).toMatchObject({ state: 'open', last_failure: 'upstream_error', in_flight: 0 });
    expect(left['retry_after_ms']).toBeGreaterThan(0);
    expect(await deploymentNamed('p2/upstream-2')).toMatchObject({ state: 'closed', last_failure: null });
    // Its other deployment is another model's, and in use.
    expect(await upstreamNamed('p1')).toMatchObject({ state: 'in use' });
  });

  it('counts the calls that are under way, and none when they are over', async () => {
    let finish: () => void = () => undefined;
    const held = new Promise<void>((resolve) => (finish = resolve));
    const slow: Script = async (request, response) => {
      await held;
      await json(200, completion())(request, response);
    };
    await start(provider(worth({ tier: 'enterprise' }), slow));
    const answers = [ask(), ask(), ask('small-model')];
    await eventually(async () => record((await status()).body['pod'])['in_flight'] === 3);
    expect(await deploymentNamed('p1/upstream-1')).toMatchObject({ in_flight: 2 });
    expect(await deploymentNamed('p1/upstream-small')).toMatchObject({ in_flight: 1 });
    finish();
    for (const answer of answers) expect((await answer).status).toBe(200);
    expect(record((await status()).body['pod'])['in_flight']).toBe(0);
    expect(await deploymentNamed('p1/upstream-1')).toMatchObject({ in_flight: 0 });
  });

  it('tells the timeouts that hold, and the facts of the pod', async () => {
    await start(provider(worth({ tier: 'enterprise' })));
    const { body, headers } = await status();
    expect(headers.get('cache-control')).toBe('no-store');
    expect(body['pod']).toMatchObject({
      upstream: 'providers',
      knowledge: 'shared',
      request_deadline_ms: 120_000,
      attempts: { per_request: 6, per_deployment: 2 },
    });
    expect(
      list(body['models']).map(({ model, timeouts, latency, token_ratio }) => [model, timeouts, latency, token_ratio]),
    ).toEqual(
      ['test-model', 'small-model'].map((model) => [
        model,
        {
          connect_ms: 3_000,
          first_token_ms: 20_000,
          first_token_learned: false,
          answer_ms: model === 'test-model' ? 520_000 : 70_000,
          idle_ms: 30_000,
        },
        { mean_first_token_ms: null, tokens_per_second: null },
        1,
      ]),
    );
  });

  it('is for operators alone', async () => {
    await start(provider(worth({ tier: 'enterprise' })));
    expect(await status(FRONTEND)).toMatchObject({ status: 403, body: { error: { code: 'insufficient_scope' } } });
    expect(await status('nobody')).toMatchObject({ status: 401, body: { error: { code: 'invalid_api_key' } } });
  });

  it('holds no key, of ours or of a caller, nor where a provider is', async () => {
    await start(
      provider(worth({ tier: 'pro', remaining: 3 })),
      provider(json(401, { error: { message: 'upstream-key-2 is bad' } })),
    );
    await ask();
    await eventually(async () => (await upstreamNamed('p2'))['parked'] !== null);
    const { text } = await status();
    expect(text).not.toMatch(/upstream-key|operator-key|frontend-key|127\.0\.0\.1|localhost/);
    for (const key of [OPERATOR, FRONTEND]) expect(text).not.toContain(hash('sha256', key));
  });

  it('answers as documented', async () => {
    await start(provider(worth({ tier: 'pro', remaining: 3 })), provider(json(403, {})));
    await eventually(async () => (await upstreamNamed('p2'))['parked'] !== null);
    const document = await OpenApiDocument.of(coordinator.url);
    for (const { status: code, body } of [await status(), await status(FRONTEND), await status('nobody')]) {
      const [media] = document.media('status', document.response(document.operation('getStatus'), code) ?? {});
      expect([code, media === undefined, document.faults(media?.schema, body)]).toEqual([code, false, []]);
    }
  });
});
