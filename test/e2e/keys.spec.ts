import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { createHash } from 'node:crypto';
import { createServer } from 'node:net';
import { once } from 'node:events';
import { type ConfigFile, modelAt, providerAt, writeConfig } from '../support/config-file.js';
import { sized } from '../support/proof-scale.js';
import { chunk, event, json, type Script, startScriptedUpstream, stream } from '../support/scripted-upstream.js';
import type { ScriptedUpstream } from '../support/scripted-upstream.js';
import { separateModels } from '../support/separate-models.js';
import { type SpawnedServer, spawnServer } from '../support/spawned-server.js';

jest.setTimeout(sized(120_000, 600_000));

const CALLER_KEY = 'caller-3fQ9xZ-7Lw2Vb-5Rt8';
const WRONG_KEY = 'wrong-8sJd4-Kp1mN6-Xc0';
const PROVIDER_KEY = 'provider-b7Yh2G-Uq9eT4-Wz1';
const secrets = [CALLER_KEY, WRONG_KEY, PROVIDER_KEY].flatMap((key) => [
  key,
  createHash('sha256').update(key).digest('hex'),
  Buffer.from(key).toString('base64').replace(/=+$/, ''),
]);
const messages = [{ role: 'user', content: 'Hi' }];

/** Everything that a provider can say with our key in it. */
const ECHOES: Readonly<Record<string, Script>> = {
  'a reset': (_, response) => void response.socket?.resetAndDestroy(),
  'a 401 that quotes the key': json(401, errorWith(`Incorrect API key provided: ${PROVIDER_KEY}.`)),
  'a 400 that quotes the key': json(400, errorWith(`The key ${PROVIDER_KEY} may not use this model`)),
  'a 400 whose members are the key': json(400, {
    error: { message: `Bearer ${PROVIDER_KEY}`, type: PROVIDER_KEY, param: PROVIDER_KEY, code: PROVIDER_KEY },
  }),
  'a 422 in plain text': json(422, `no: ${PROVIDER_KEY}`),
  'a 429 that quotes the key': json(429, errorWith(`Rate limit of ${PROVIDER_KEY}`)),
  'a 500 that dumps the request': (request, response) =>
    json(500, { error: { message: JSON.stringify(request.headers) } })(request, response),
  'headers with the key': json(503, errorWith('busy'), {
    'x-request-id': PROVIDER_KEY,
    'openai-version': PROVIDER_KEY,
  }),
  'garbage with the key': json(200, `<html>${PROVIDER_KEY}</html>`),
  'an error within a 200': json(200, errorWith(`bad key ${PROVIDER_KEY}`, 'invalid_request_error')),
  'a stream that breaks with the key': stream([
    chunk('a'),
    event(errorWith(`key ${PROVIDER_KEY}`, 'invalid_request_error')),
  ]),
  'a stream with garbage': stream([chunk('a'), `data: ${PROVIDER_KEY}\n\n`]),
};

/** The provider knows the key, as long as it is asked for that. */
const known =
  (script: Script): Script =>
  (request, response) =>
    (request.path.endsWith('/usage') ? json(200, { tier: 'enterprise' }) : script)(request, response);

/** None is left alone for what became of another; all are called with the one key. */
const models = separateModels(Object.keys(ECHOES).length, {
  provider: { usagePath: '/usage' },
  key: () => PROVIDER_KEY,
});

describe('rows 50 and 69: keys', () => {
  let upstream: ScriptedUpstream;
  let config: ConfigFile;
  let server: SpawnedServer;
  /** Every answer, with its headers. */
  let answers = '';

  beforeAll(async () => {
    upstream = await startScriptedUpstream(known(json(500, {})));
    const refusing = `http://127.0.0.1:${String(await closedPort())}/v1`;
    config = await writeConfig(
      models.file(upstream.url, [providerAt('refusing', refusing)], [modelAt('refusing', 'refusing')]),
    );
    server = await spawnServer({
      environment: {
        CONFIG_FILE: config.path,
        ...models.environment,
        REFUSING_KEY: PROVIDER_KEY,
        CALLER_KEYS: `site:enterprise:${CALLER_KEY}`,
        LOG_LEVEL: 'trace',
      },
    });
  });
  afterAll(async () => {
    await server.kill();
    await upstream.close();
    await config.remove();
  });

  const ask = async (body: object, headers: Record<string, string> = {}): Promise<Response> => {
    const response = await fetch(`${server.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${CALLER_KEY}`, 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
    const text = await response.clone().text();
    answers += `${String(response.status)} ${JSON.stringify([...response.headers])} ${text}\n`;
    return response;
  };

  it.each(Object.keys(ECHOES))('stay secret after %s', async (name) => {
    upstream.play(known(ECHOES[name] ?? json(200, {})));
    const model = models.next();
    for (const isStream of [false, true]) {
      const before = upstream.requests.length;
      const answer = await (await ask({ model, messages, stream: isStream })).text();
      // A refused key is not called with again.
      if (!isStream) expect(upstream.requests.length).toBeGreaterThan(before);
      expect(answer).toContain('"error"');
      expect(found(answer)).toEqual([]);
    }
  });

  it('stay secret where nobody listens', async () => {
    const response = await ask({ model: 'refusing', messages });
    expect(response.status).toBe(502);
    expect(found(await response.text())).toEqual([]);
  });

  it('row 49: a wrong one gets a body that tells nothing', async () => {
    const response = await ask({ model: 'scripted', messages }, { authorization: `Bearer ${WRONG_KEY}` });
    expect(response.status).toBe(401);
    expect(await response.json()).toEqual({
      error: {
        message: 'missing or invalid API key; send it as "Authorization: Bearer <key>"',
        type: 'authentication_error',
        param: null,
        code: 'invalid_api_key',
      },
    });
  });

  it.each<Record<string, string>>([
    { authorization: WRONG_KEY },
    { authorization: `Basic ${WRONG_KEY}` },
    { authorization: `Bearer ${WRONG_KEY} x` },
    { authorization: '', 'x-api-key': WRONG_KEY },
    { authorization: '', cookie: `key=${WRONG_KEY}` },
  ])('row 49: as does %j', async (headers) => {
    const response = await ask({ model: 'scripted', messages }, headers);
    expect(response.status).toBe(401);
    expect(found(await response.text())).toEqual([]);
  });

  it('stay secret when they are sent where they do not belong', async () => {
    const query = await fetch(`${server.url}/v1/models?api_key=${CALLER_KEY}`);
    const path = await fetch(`${server.url}/v1/none?key=${CALLER_KEY}`, { method: 'DELETE' });
    expect([query.status, path.status]).toEqual([401, 404]);
    answers += (await query.text()) + (await path.text());
  });

  it('are in no answer, no log line at level trace and no metric', async () => {
    const metrics = await (await fetch(`${server.url}/metrics`)).text();
    expect(metrics).toContain('coordinator_completions_total');
    expect(server.logs().split('\n').length).toBeGreaterThan(30);
    expect({ answers: found(answers), logs: found(server.logs()), metrics: found(metrics) }).toEqual({
      answers: [],
      logs: [],
      metrics: [],
    });
  });
});

function errorWith(message: string, type = 'x'): object {
  return { error: { message, type, param: null, code: null } };
}

/** The lines in which a secret stands. */
function found(text: string): string[] {
  return text.split('\n').filter((line) => secrets.some((secret) => line.includes(secret)));
}

async function closedPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}
