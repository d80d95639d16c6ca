import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import OpenAI from 'openai';
import { type ConfigFile, writeConfig } from '../support/config-file.js';
import { sized } from '../support/proof-scale.js';
import { separateModels } from '../support/separate-models.js';
import { startTestSimulator, type TestSimulator } from '../support/simulator.js';
import { type SpawnedServer, spawnServer } from '../support/spawned-server.js';

jest.setTimeout(sized(120_000, 600_000));

const models = separateModels(20, { model: { timeouts: { idleMs: '400ms' } } });
const text = 'words before the break';

describe('the errors of the openai client on a stream', () => {
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

  /** What a stream delivers before it fails, and how. */
  const broken = async (script: object): Promise<{ error: unknown; received: string; calls: number }> => {
    const model = models.next();
    await upstream.script({ ...script, text, model, times: 'always' });
    const parts: (string | null | undefined)[] = [];
    const read = async (): Promise<void> => {
      const messages = [{ role: 'user' as const, content: 'Hi' }];
      const stream = await client.chat.completions.create({ model, messages, stream: true });
      for await (const chunk of stream) parts.push(chunk.choices[0]?.delta.content);
    };
    const error = await read().catch((thrown: unknown) => thrown);
    return { error, received: parts.join(''), calls: (await upstream.stats()).requests.total };
  };

  it.each([
    { name: 'an error frame', script: { errorAfterFrames: 3 }, code: 'upstream_error', type: 'api_error' },
    {
      name: 'an overload',
      script: { errorAfterFrames: 3, error: { type: 'overloaded_error' } },
      code: 'overloaded',
      type: 'overloaded_error',
    },
    { name: 'a cut connection', script: { cutAfterFrames: 3 }, code: 'upstream_error', type: 'api_error' },
    { name: 'an early end', script: { endAfterFrames: 3 }, code: 'upstream_error', type: 'api_error' },
    { name: 'garbage', script: { garbageAfterFrames: 3 }, code: 'upstream_error', type: 'api_error' },
    { name: 'silence', script: { stallAfterFrames: 3 }, code: 'timeout', type: 'timeout_error' },
  ])('$name after content raises APIError, with what came before delivered', async ({ script, code, type }) => {
    const { error, received, calls } = await broken(script);
    expect(error).toBeInstanceOf(OpenAI.APIError);
    expect(error).toMatchObject({ status: undefined, code, type, param: null, requestID: expect.stringMatching(/./) });
    expect(received).toBe('words before');
    expect(calls).toBe(1);
  });

  it.each([
    ['an error frame', { errorAfterFrames: 1 }, OpenAI.InternalServerError, { status: 502, code: 'upstream_error' }],
    ['an end', { endAfterFrames: 1 }, OpenAI.InternalServerError, { status: 502, code: 'upstream_error' }],
    ['a status', { status: 422 }, OpenAI.UnprocessableEntityError, { status: 422, code: 'unprocessable' }],
  ])('%s before any content raises the class of its status', async (_, script, is, told) => {
    const { error, received } = await broken(script);
    expect(error).toBeInstanceOf(is);
    expect(error).toMatchObject(told);
    expect(received).toBe('');
  });
});
