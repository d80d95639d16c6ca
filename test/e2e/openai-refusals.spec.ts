import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import OpenAI from 'openai';
import { type ConfigFile, modelAt, providerAt, writeConfig } from '../support/config-file.js';
import { sized } from '../support/proof-scale.js';
import { type SpawnedServer, spawnServer, UPSTREAM_KEY } from '../support/spawned-server.js';
import { expectTold } from '../support/told-error.js';
import { type E2eUpstream, UPSTREAMS } from '../support/upstreams.js';

jest.setTimeout(sized(120_000, 600_000));

const KEY = 'enterprise-caller-key-01';
const PRO_KEY = 'pro-caller-key-0000000001';
const model = 'gpt-4.1';
const messages = [{ role: 'user' as const, content: 'Hi' }];
const { BadRequestError, AuthenticationError, PermissionDeniedError, NotFoundError, APIError } = OpenAI;

describe.each(UPSTREAMS)('what this service refuses, as the openai client tells it, over %s', (_, start) => {
  let upstream: E2eUpstream;
  let config: ConfigFile;
  let server: SpawnedServer;
  let client: OpenAI;

  beforeAll(async () => {
    upstream = await start();
    const ended = { shutdownDate: '2025-01-31', successor: model };
    config = await writeConfig({
      providers: [providerAt('first', upstream.url)],
      models: [
        modelAt('first', model),
        modelAt('first', 'old', { deployments: [{ provider: 'first', model, ...ended }] }),
        modelAt('first', 'small'),
      ],
      tiers: { free: [], pro: ['small'], enterprise: [model, 'old', 'small'] },
    });
    server = await spawnServer({
      environment: {
        CONFIG_FILE: config.path,
        FIRST_KEY: UPSTREAM_KEY,
        CALLER_KEYS: `big:enterprise:${KEY},site:pro:${PRO_KEY}`,
        BODY_LIMIT: '1mb',
      },
    });
    client = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: KEY });
  });
  afterAll(async () => {
    await server.kill();
    await upstream.close();
    await config.remove();
  });

  const ask = (body: object, options: OpenAI.RequestOptions = {}) =>
    client.post('/chat/completions', { body: { model, messages, ...body }, ...options });
  const as = (apiKey: string) => ({ headers: { authorization: `Bearer ${apiKey}`, 'x-coordinator-strict': 'true' } });
  it.each([
    {
      name: 'no messages',
      call: () => ask({ messages: [] }),
      is: BadRequestError,
      told: [400, 'invalid_request', 'messages'],
    },
    {
      name: 'a wrong key',
      call: () => ask({}, as('wrong-key')),
      is: AuthenticationError,
      told: [401, 'invalid_api_key', null],
    },
    {
      name: 'a model beyond the tier',
      call: () => ask({}, as(PRO_KEY)),
      is: PermissionDeniedError,
      told: [403, 'model_not_allowed', 'model'],
    },
    {
      name: 'an unknown model',
      call: () => ask({ model: 'nope' }),
      is: NotFoundError,
      told: [404, 'model_not_found', 'model'],
    },
    {
      name: 'the card of an unknown model',
      call: () => client.models.retrieve('nope'),
      is: NotFoundError,
      told: [404, 'model_not_found', 'model'],
    },
    {
      name: 'an unknown path',
      call: () => client.get('/no/such/path'),
      is: NotFoundError,
      told: [404, 'not_found', null],
    },
    {
      name: 'another method',
      call: () => client.delete('/chat/completions'),
      is: APIError,
      told: [405, 'method_not_allowed', null],
    },
    {
      name: 'a retired model',
      call: () => ask({ model: 'old' }, as(KEY)),
      is: APIError,
      told: [410, 'model_retired', 'model'],
    },
    {
      name: 'a large body',
      call: () => ask({ user: 'x'.repeat(2 ** 20) }),
      is: APIError,
      told: [413, 'request_too_large', null],
    },
  ] as const)('$name', async ({ call, is, told: [status, code, param] }) => {
    const error = await Promise.resolve(call()).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(is);
    expectTold(error, { status, code, param });
    expect(await upstream.requests()).toEqual([]);
  });
});
