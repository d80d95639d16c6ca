import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { UndiciTransport } from '../../../src/ai/upstream/undici.transport.js';
import { VertexAdapter } from '../../../src/ai/upstream/vertex/vertex.adapter.js';
import { answering, attemptAt, reply, textReply } from '../../contract/provider.attempts.js';
import { collected } from '../../contract/provider.collector.js';
import { vertexRig } from '../../contract/provider.vertex-rig.js';
import { OVERLOADED, SIGNATURE } from '../../support/fakes/vertex.fake.js';
import {
  granting,
  serviceAccount,
  startTokenServer,
  tokenJson,
  type TokenServer,
} from '../../support/fakes/vertex.tokens.js';
import {
  json,
  type Script,
  type ScriptedUpstream,
  startScriptedUpstream,
  stream,
} from '../../support/scripted-upstream.js';

const { wire } = vertexRig;

describe('the adapter for Vertex AI', () => {
  let transport: UndiciTransport;
  let fake: ScriptedUpstream;
  let tokens: TokenServer;
  let adapter: VertexAdapter;
  beforeEach(async () => {
    transport = new UndiciTransport();
    fake = await startScriptedUpstream(answering(wire, textReply('ok')));
    tokens = await startTokenServer(granting((count) => `token-${String(count)}`));
    adapter = new VertexAdapter(transport);
  });
  afterEach(async () => {
    await transport.close();
    await fake.close();
    await tokens.close();
  });

  const upstreamWith = (apiKey: string) => ({
    name: 'vertex',
    keyId: 'vertex',
    kind: 'vertex' as const,
    baseUrl: `${fake.url}/projects/p1/locations/global`,
    apiKey,
  });
  const attempt = (apiKey = serviceAccount(tokens.origin), members = {}) =>
    attemptAt({ upstream: upstreamWith(apiKey) }, members);
  const tokensSent = (): unknown[] => fake.requests.map(({ headers }) => headers.authorization);

  it('asks for one token for all calls, and for one for each of several credentials', async () => {
    await Promise.all(Array.from({ length: 10 }, () => adapter.complete(attempt())));
    expect(tokens.requests).toHaveLength(1);
    await adapter.complete(attempt(serviceAccount(tokens.origin, { private_key_id: 'key-2' })));
    expect(tokens.requests).toHaveLength(2);
    expect(new Set(tokensSent())).toEqual(new Set(['Bearer token-1', 'Bearer token-2']));
  });

  it('sends a token that is given as it is', async () => {
    await adapter.complete(attempt('ya29.own'));
    expect(tokensSent()).toEqual(['Bearer ya29.own']);
    expect(tokens.requests).toEqual([]);
  });

  const withdrawn = (isWithdrawn: (token: unknown) => boolean): Script => {
    const refusal = json(401, { error: { code: 401, status: 'UNAUTHENTICATED', message: 'invalid credentials' } });
    const answer = answering(wire, textReply('ok'));
    return (request, response) => (isWithdrawn(request.headers.authorization) ? refusal : answer)(request, response);
  };

  it('sends a request again with another token where one is not taken any more', async () => {
    await adapter.complete(attempt());
    fake.play(withdrawn((token) => token === 'Bearer token-1'));
    await adapter.complete(attempt());
    await collected(await adapter.stream(attempt()));
    expect(tokensSent()).toEqual(['Bearer token-1', 'Bearer token-1', 'Bearer token-2', 'Bearer token-2']);
  });

  it('asks for one other token for all calls whose token is not taken', async () => {
    await adapter.complete(attempt());
    fake.play(withdrawn((token) => token === 'Bearer token-1'));
    await Promise.all(Array.from({ length: 10 }, () => adapter.complete(attempt())));
    expect(tokens.requests).toHaveLength(2);
  });

  it('blames the key once a new token is not taken either, and asks for another one the next time', async () => {
    fake.play(withdrawn(() => true));
    await expect(adapter.complete(attempt())).rejects.toMatchObject({ blame: 'key', code: 'upstream_auth' });
    fake.play(answering(wire, textReply('ok')));
    await adapter.complete(attempt());
    expect(tokensSent()).toEqual(['Bearer token-1', 'Bearer token-2', 'Bearer token-3']);
  });

  it('sends nothing again where there is no other token, or where it is not the token that is refused', async () => {
    fake.play(withdrawn(() => true));
    await expect(adapter.complete(attempt('ya29.own'))).rejects.toMatchObject({ blame: 'key', code: 'upstream_auth' });
    fake.play(json(403, { error: { code: 403, status: 'PERMISSION_DENIED', message: 'no' } }));
    await expect(adapter.complete(attempt())).rejects.toMatchObject({ blame: 'key', code: 'upstream_auth' });
    expect(tokensSent()).toEqual(['Bearer ya29.own', 'Bearer token-1']);
  });

  it('leaves the key in peace where a new token could not be asked for', async () => {
    await adapter.complete(attempt());
    fake.play(withdrawn(() => true));
    tokens.play((_, response) => void response.socket?.destroy());
    await expect(adapter.complete(attempt())).rejects.toMatchObject({ blame: 'upstream', code: 'upstream_error' });
  });

  it('blames the key where no token is given for it, and calls nobody', async () => {
    tokens.play((_, response) => {
      tokenJson(response, 400, { error: 'invalid_grant', error_description: 'Invalid grant: account not found' });
    });
    for (const call of [() => adapter.complete(attempt()), () => adapter.stream(attempt())]) {
      await expect(call()).rejects.toMatchObject({
        blame: 'key',
        code: 'upstream_auth',
        message: "no access token is to be had for vertex with this service's credentials",
      });
    }
    expect(fake.requests).toEqual([]);
  });

  it('blames the way to the tokens where nobody answers there', async () => {
    tokens.play((_, response) => void response.socket?.destroy());
    await expect(adapter.complete(attempt())).rejects.toMatchObject({ blame: 'upstream', code: 'upstream_error' });
    expect(fake.requests).toEqual([]);
  });

  it('refuses by its name what only this model can not be told, and calls nobody', async () => {
    const thoughtless = attempt(undefined, { reasoning_effort: 'none' });
    const pro = { ...thoughtless, deployment: { ...thoughtless.deployment, model: 'gemini-2.5-pro' } };
    expect(adapter.untranslatable(pro.body)).toBeUndefined();
    await expect(adapter.complete(pro)).rejects.toMatchObject({
      blame: 'request',
      code: 'unprocessable',
      param: 'reasoning_effort',
    });
    expect(fake.requests).toEqual([]);
  });

  it('calls a model by its name with or without its publisher', async () => {
    for (const model of ['google/gemini-2.5-flash', 'gemini-2.5-flash']) {
      const plain = attempt();
      await adapter.complete({ ...plain, deployment: { ...plain.deployment, model } });
    }
    expect(new Set(fake.requests.map(({ path }) => path))).toEqual(
      new Set(['/v1/projects/p1/locations/global/publishers/google/models/gemini-2.5-flash:generateContent']),
    );
  });

  it.each([
    ['an event', `data: ${JSON.stringify({ error: OVERLOADED })}\r\n\r\n`],
    ['an event in a list', `data: ${JSON.stringify([{ error: OVERLOADED }])}\r\n\r\n`],
    ['bare JSON', JSON.stringify({ error: OVERLOADED }, undefined, 2)],
    ['bare JSON in a list', JSON.stringify([{ error: OVERLOADED }], undefined, 2)],
  ])('tells an error within a stream that comes as %s', async (_, error) => {
    const frames = wire.frames(textReply('one two three')).slice(0, 3);
    for (const pieces of [[...frames, error], [...frames, ...error.split(/(?<=[{\n])/)], [error]]) {
      fake.play(stream(pieces));
      const opened = await adapter.stream(attempt());
      await expect(collected(opened)).rejects.toMatchObject({ blame: 'upstream', code: 'overloaded' });
    }
  });

  it.each([
    ['whole', { error: OVERLOADED }, 'overloaded', undefined],
    ['in a list', [{ error: OVERLOADED }], 'overloaded', undefined],
    [
      'with a wait',
      { error: { code: 429, status: 'RESOURCE_EXHAUSTED', message: 'x', details: [{ retryDelay: '2s' }] } },
      'rate_limit_exceeded',
      2_000,
    ],
    ['without a status', { error: { message: 'x' } }, 'upstream_error', undefined],
  ])('tells an error in place of an answer: %s', async (_, body, code, retryAfterMs) => {
    fake.play(json(200, body));
    for (const call of [() => adapter.complete(attempt()), () => adapter.stream(attempt())])
      await expect(call()).rejects.toMatchObject({ blame: 'upstream', code, retryAfterMs });
  });

  it('gives signatures to a client that brings them back, call by call', async () => {
    const called = { kind: 'call', id: '', name: 'f', arguments: '{"a":1}' } as const;
    fake.play(answering(wire, reply([called])));
    const { value } = await adapter.complete(attempt());
    const [choice] = value['choices'] as { message: { tool_calls: { id: string }[] } }[];
    const calls = choice?.message.tool_calls ?? [];
    fake.play(answering(wire, textReply('done')));
    const messages = [
      { role: 'user', content: 'Hi' },
      choice?.message,
      { role: 'tool', tool_call_id: calls[0]?.id, content: '1' },
    ];
    await adapter.complete(attempt(undefined, { messages }));
    expect(fake.requests.at(-1)?.body['contents']).toMatchObject([
      {},
      { role: 'model', parts: [{ functionCall: { name: 'f', args: { a: 1 } }, thoughtSignature: SIGNATURE }] },
      { role: 'user', parts: [{ functionResponse: { name: 'f', response: { output: '1' } } }] },
    ]);
  });
});
