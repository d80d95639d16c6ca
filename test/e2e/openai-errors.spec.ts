import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import OpenAI from 'openai';
import { type ConfigFile, writeConfig } from '../support/config-file.js';
import { plantProject } from '../support/planted-project.js';
import { sized } from '../support/proof-scale.js';
import { separateModels } from '../support/separate-models.js';
import { startTestSimulator, type TestSimulator } from '../support/simulator.js';
import { type SpawnedServer, spawnServer } from '../support/spawned-server.js';
import { adviceOf, expectTold } from '../support/told-error.js';

jest.setTimeout(sized(120_000, 600_000));

const models = separateModels(40);
/** Calls of the provider for one request, where it has no other one to go to. */
const TRIES = 2;
const messages = [{ role: 'user' as const, content: 'words:20' }];

describe('what the provider does, as the openai client tells it, and how often its own retries reach the provider', () => {
  let upstream: TestSimulator;
  let config: ConfigFile;
  let server: SpawnedServer;
  let client: OpenAI;

  beforeAll(async () => {
    upstream = await startTestSimulator({ models: models.simulated });
    config = await writeConfig(models.file(upstream.url));
    server = await spawnServer({ environment: { CONFIG_FILE: config.path, ...models.environment } });
    client = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: 'sk-any' });
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

  const body = (code: string, more: object = {}) => ({ error: { message: 'no', type: 'x', code, ...more } });
  const soon = { 'retry-after-ms': '20' };
  const create = async (script: object, options: OpenAI.RequestOptions = {}) => {
    const model = models.next();
    await upstream.script({ ...script, model, times: 'always' });
    return client.chat.completions.create({ model, messages }, options);
  };
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
  ] as const)('$name: once', async ({ script, is, told }) => {
    const { error, calls } = await failed(() => create(script));
    expect(error).toBeInstanceOf(is);
    expectTold(error, { status: told[0], code: told[1], param: told[2] ?? null });
    expect(calls).toBe(1);
    expect(adviceOf(error)).toEqual({ shouldRetry: null, waitMs: null });
  });

  it.each([
    { name: '401', script: { status: 401 }, is: InternalServerError, told: [502, 'upstream_auth'] },
    { name: '403', script: { status: 403 }, is: InternalServerError, told: [502, 'upstream_auth'] },
    { name: '404', script: { status: 404 }, is: InternalServerError, told: [502, 'upstream_error'] },
    { name: '402', script: { status: 402 }, is: RateLimitError, told: [429, 'insufficient_quota'] },
    {
      name: '429 for good',
      script: { status: 429, body: body('insufficient_quota') },
      is: RateLimitError,
      told: [429, 'insufficient_quota'],
    },
  ] as const)('$name: once, for we say so', async ({ script, is, told: [status, code] }) => {
    const { error, calls } = await failed(() => create(script));
    expect(error).toBeInstanceOf(is);
    expectTold(error, { status, code });
    expect(calls).toBe(1);
    expect(adviceOf(error)).toEqual({ shouldRetry: 'false', waitMs: null });
  });

  it.each([
    { name: '409', script: { status: 409, headers: soon }, told: [502, 'upstream_error', '20'] },
    { name: '500', script: { status: 500, headers: soon }, told: [502, 'upstream_error', '20'] },
    { name: '504', script: { status: 504, headers: soon }, told: [504, 'timeout', '20'] },
    { name: '503', script: { status: 503, headers: soon }, told: [503, 'overloaded', '20'] },
    { name: '529', script: { status: 529, headers: soon }, told: [503, 'overloaded', '20'] },
    { name: 'a reset', script: { reset: true }, told: [502, 'upstream_error', null] },
    { name: 'garbage', script: { garbageBody: true }, told: [502, 'upstream_error', null] },
  ] as const)(
    'row 7: $name: as often as this service tries, which the client does not multiply',
    async ({ script, told: [status, code, waitMs] }) => {
      const { error, calls } = await failed(() => create(script));
      expect(error).toBeInstanceOf(InternalServerError);
      expectTold(error, { status, code });
      expect(calls).toBe(TRIES);
      expect(adviceOf(error)).toEqual({ shouldRetry: 'false', waitMs });
    },
  );

  it('a rate limit passes: when to come again is left to the client', async () => {
    const { error, calls } = await failed(() => create({ status: 429, headers: soon }, { maxRetries: 0 }));
    expect(error).toBeInstanceOf(RateLimitError);
    expectTold(error, { status: 429, code: 'rate_limit_exceeded' });
    expect(calls).toBe(TRIES);
    expect(adviceOf(error)).toEqual({ shouldRetry: null, waitMs: '20' });
  });

  it('a 429 that is over at the second try is no error', async () => {
    const model = models.next();
    await upstream.script({ status: 429, headers: soon, model });
    await client.chat.completions.create({ model, messages });
    expect((await upstream.stats()).requests.byStatus).toEqual({ 200: 1, 429: 1 });
  });

  it('silence: 504 at the deadline that the request brings, once', async () => {
    const options = { headers: { 'x-coordinator-timeout-ms': '1000' } };
    const { error, calls } = await failed(() => create({ neverAnswer: true }, options));
    expect(error).toBeInstanceOf(InternalServerError);
    expectTold(error, { status: 504, code: 'timeout' });
    expect(calls).toBe(1);
    expect(adviceOf(error)).toEqual({ shouldRetry: 'false', waitMs: null });
  });

  it('silence: the client’s own limit ends the provider’s work too', async () => {
    const model = models.next();
    await upstream.script({ neverAnswer: true, model, times: 'always' });
    // In plain Node: among Jest's realms the client does not know fetch's AbortError for what it is.
    const project = await plantProject({
      'ask.mjs': `
        import OpenAI from 'openai';
        const timeout = Number(process.argv[2]);
        const client = new OpenAI({ baseURL: '${server.url}/v1', apiKey: 'sk-any', timeout, maxRetries: 0 });
        await client.chat.completions
          .create({ model: '${model}', messages: [{ role: 'user', content: 'Hi' }] })
          .catch((error) => console.log(error.constructor.name));`,
    });
    // On a busy machine the limit may be over before the provider is asked.
    for (let timeoutMs = 300; (await upstream.stats()).requests.total === 0; timeoutMs *= 4) {
      const { output } = await project.run('ask.mjs', String(timeoutMs));
      expect(output.trim()).toBe('APIConnectionTimeoutError');
    }
    await project.remove();
    await upstream.statsWhen(({ abortedByClient, inFlight }) => abortedByClient > 0 && inFlight === 0);
  });
});
