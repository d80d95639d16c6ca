import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import OpenAI from 'openai';
import { type ConfigFile, modelAt, providerAt, writeConfig } from '../support/config-file.js';
import { plantProject } from '../support/planted-project.js';
import { sized } from '../support/proof-scale.js';
import { startTestSimulator, type TestSimulator } from '../support/simulator.js';
import { type SpawnedServer, spawnServer, UPSTREAM_KEY } from '../support/spawned-server.js';

jest.setTimeout(sized(30_000, 600_000));

const KEY = 'enterprise-caller-key-01';
const PRO_KEY = 'pro-caller-key-0000000001';
const model = 'gpt-4.1';
const messages = [{ role: 'user' as const, content: 'words:20' }];

/** All that the client tells of an error. */
interface Told {
  readonly status: number | undefined;
  readonly code: string;
  readonly type: string;
  readonly param?: string | null;
}

/** `error.type` by code, where it is not `invalid_request_error`. */
const TYPES: Readonly<Partial<Record<string, string>>> = {
  invalid_api_key: 'authentication_error',
  model_not_allowed: 'permission_error',
  upstream_auth: 'api_error',
  upstream_error: 'api_error',
  timeout: 'timeout_error',
  overloaded: 'overloaded_error',
  rate_limit_exceeded: 'rate_limit_error',
  insufficient_quota: 'insufficient_quota',
};

describe('the errors of the openai client', () => {
  let upstream: TestSimulator;
  let config: ConfigFile;
  let server: SpawnedServer;
  let client: OpenAI;

  beforeAll(async () => {
    upstream = await startTestSimulator();
    const ended = { shutdownDate: '2025-01-31', successor: 'gpt-4.1' };
    config = await writeConfig({
      providers: [providerAt('first', upstream.url)],
      models: [
        modelAt('first', model, { timeouts: { idleMs: '400ms' } }),
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
  afterEach(() => upstream.reset());
  afterAll(async () => {
    await server.kill();
    await upstream.close();
    await config.remove();
  });

  /** The error that a call raises, and how many calls the provider saw of it. */
  const failed = async (call: () => PromiseLike<unknown>): Promise<{ error: unknown; calls: number }> => {
    const error = await Promise.resolve(call()).catch((thrown: unknown) => thrown);
    return { error, calls: (await upstream.stats()).requests.total };
  };

  const expectTold = (error: unknown, told: Told): void => {
    expect(error).toMatchObject({ param: null, ...told, requestID: expect.stringMatching(/./) });
  };

  describe('for what this service refuses', () => {
    const ask = (body: object, options: OpenAI.RequestOptions = {}) =>
      client.post('/chat/completions', { body: { model, messages, ...body }, ...options });
    const as = (apiKey: string) => ({ headers: { authorization: `Bearer ${apiKey}`, 'x-coordinator-strict': 'true' } });
    const { BadRequestError, AuthenticationError, PermissionDeniedError, NotFoundError, APIError } = OpenAI;

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
        told: [401, 'invalid_api_key'],
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
      { name: 'an unknown path', call: () => client.get('/no/such/path'), is: NotFoundError, told: [404, 'not_found'] },
      {
        name: 'another method',
        call: () => client.delete('/chat/completions'),
        is: APIError,
        told: [405, 'method_not_allowed'],
      },
      {
        name: 'a retired model',
        call: () => ask({ model: 'old' }),
        is: APIError,
        told: [410, 'model_retired', 'model'],
      },
      {
        name: 'a large body',
        call: () => ask({ user: 'x'.repeat(2 ** 20) }),
        is: APIError,
        told: [413, 'request_too_large'],
      },
    ] as const)('$name', async ({ call, is, told: [status, code, param = null] }) => {
      const { error, calls } = await failed(call);
      expect(error).toBeInstanceOf(is);
      const type =
        { 401: 'authentication_error', 403: 'permission_error' }[status as number] ?? 'invalid_request_error';
      expectTold(error, { status, code, type, param });
      expect(calls).toBe(0);
    });
  });

  describe('for what the provider does, and how often the client’s own retries reach it', () => {
    const body = (code: string, more: object = {}) => ({ error: { message: 'no', type: 'x', code, ...more } });
    const soon = { 'retry-after-ms': '20' };
    const { BadRequestError, UnprocessableEntityError, RateLimitError, InternalServerError, APIError } = OpenAI;

    it.each([
      {
        name: '400',
        script: { status: 400, body: body('odd', { param: 'n' }) },
        is: BadRequestError,
        told: [400, 'odd', 'n'],
      },
      { name: '413', script: { status: 413 }, is: APIError, told: [413, 'request_too_large'] },
      { name: '415', script: { status: 415 }, is: APIError, told: [415, 'unsupported_media_type'] },
      { name: '422', script: { status: 422 }, is: UnprocessableEntityError, told: [422, 'unprocessable'] },
      { name: '401', script: { status: 401 }, is: InternalServerError, told: [502, 'upstream_auth'] },
      { name: '403', script: { status: 403 }, is: InternalServerError, told: [502, 'upstream_auth'] },
      { name: '404', script: { status: 404 }, is: InternalServerError, told: [502, 'upstream_error'] },
      { name: '409', script: { status: 409 }, is: InternalServerError, told: [502, 'upstream_error'] },
      { name: '500', script: { status: 500 }, is: InternalServerError, told: [502, 'upstream_error'] },
      { name: '504', script: { status: 504 }, is: InternalServerError, told: [504, 'timeout'] },
      { name: 'a reset', script: { reset: true }, is: InternalServerError, told: [502, 'upstream_error'] },
      { name: 'garbage', script: { garbageBody: true }, is: InternalServerError, told: [502, 'upstream_error'] },
      { name: '402', script: { status: 402 }, is: RateLimitError, told: [429, 'insufficient_quota'] },
      {
        name: '429 for good',
        script: { status: 429, body: body('insufficient_quota') },
        is: RateLimitError,
        told: [429, 'insufficient_quota'],
      },
      {
        name: '429',
        script: { status: 429, headers: soon },
        is: RateLimitError,
        told: [429, 'rate_limit_exceeded'],
        retried: true,
      },
      {
        name: '503',
        script: { status: 503, headers: soon },
        is: InternalServerError,
        told: [503, 'overloaded'],
        retried: true,
      },
      {
        name: '529',
        script: { status: 529, headers: soon },
        is: InternalServerError,
        told: [503, 'overloaded'],
        retried: true,
      },
    ] as const)('$name', async ({ script, is, told, ...row }) => {
      const [status, code] = told;
      const retried = 'retried' in row;
      await upstream.script({ ...script, times: 'always' });
      const { error, calls } = await failed(() => client.chat.completions.create({ model, messages }));
      expect(error).toBeInstanceOf(is);
      expectTold(error, { status, code, type: typeOf(code), param: told[2] ?? null });
      expect(calls).toBe(retried ? 3 : 1);
      const { headers } = error as InstanceType<typeof APIError>;
      // Below 500 the client by itself retries only 408, 409 and 429.
      const isLeftToClient = retried || (status < 500 && status !== 429);
      expect(headers?.get('x-should-retry')).toBe(isLeftToClient ? null : 'false');
      expect(headers?.get('retry-after-ms')).toBe(retried ? '20' : null);
      expect(headers?.get('x-coordinator-attempts')).toBe('1');
    });

    it('a 429 that is over at the second try is no error', async () => {
      await upstream.script({ status: 429, headers: soon });
      await client.chat.completions.create({ model, messages });
      expect((await upstream.stats()).requests.byStatus).toEqual({ 200: 1, 429: 1 });
    });

    it('silence: 504 at the deadline that the request brings', async () => {
      await upstream.script({ neverAnswer: true, times: 'always' });
      const headers = { 'x-coordinator-timeout-ms': '150' };
      const { error, calls } = await failed(() => client.chat.completions.create({ model, messages }, { headers }));
      expect(error).toBeInstanceOf(InternalServerError);
      expectTold(error, { status: 504, code: 'timeout', type: 'timeout_error' });
      expect(calls).toBe(1);
    });

    it('silence: the client’s own limit ends the provider’s work too', async () => {
      await upstream.script({ neverAnswer: true, times: 'always' });
      // In plain Node: among Jest's realms the client does not know fetch's AbortError for what it is.
      const project = await plantProject({
        'ask.mjs': `
          import OpenAI from 'openai';
          const client = new OpenAI({ baseURL: '${server.url}/v1', apiKey: '${KEY}', timeout: 300, maxRetries: 0 });
          await client.chat.completions
            .create({ model: '${model}', messages: [{ role: 'user', content: 'Hi' }] })
            .catch((error) => console.log(error.constructor.name));`,
      });
      expect((await project.run('ask.mjs')).output.trim()).toBe('APIConnectionTimeoutError');
      await project.remove();
      await upstream.statsWhen(({ abortedByClient, inFlight }) => abortedByClient === 1 && inFlight === 0);
    });
  });
});

function typeOf(code: string): string {
  return TYPES[code] ?? 'invalid_request_error';
}
