import { hash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { modelAt, providerAt } from '../support/config-file.js';
import { type Coordinator, startConfigured } from '../support/configured-coordinator.js';
import { completion, json, type ScriptedUpstream, startScriptedUpstream } from '../support/scripted-upstream.js';
import { issuerKey, TokenIssuer } from '../support/token-issuer.js';

const KEY = 'key-of-the-backend-0123456789';
const PAGE_KEY = 'key-of-the-pages-0123456789';
const PAGE = 'https://app.example.com';
const OTHER_PAGE = 'https://other.example.com';

let upstream: ScriptedUpstream;
let issuer: TokenIssuer;
let coordinator: Coordinator;

beforeAll(async () => {
  upstream = await startScriptedUpstream();
  issuer = await TokenIssuer.start(await issuerKey('ec'));
  const file = {
    providers: [providerAt('p', upstream.url)],
    models: ['small', 'large'].map((name) => modelAt('p', name, { cacheTtlMs: '1m' })),
    tiers: { free: ['small'], pro: ['small'], enterprise: ['small', 'large'] },
    callers: [
      { name: 'backend', keySha256: hash('sha256', KEY), tier: 'enterprise', scopes: ['chat', 'admin'] },
      { name: 'pages', keySha256: hash('sha256', PAGE_KEY), tier: 'free', origins: [PAGE], scopes: ['chat', 'admin'] },
    ],
    issuers: [
      issuer.entry({
        caller: 'pages',
        tiers: { claim: 'plan', values: [{ value: 'gold', tier: 'enterprise' }] },
        scopes: {
          claim: 'scope',
          values: [
            { value: 'ai:chat', scope: 'chat' },
            { value: 'ai:admin', scope: 'admin' },
          ],
        },
      }),
    ],
  };
  const environment = { CORS_ORIGINS: OTHER_PAGE, TRUST_PROXY: 'loopback' };
  coordinator = await startConfigured({ file, keys: { P_KEY: 'upstream-key-1' }, environment });
});
afterAll(async () => {
  await coordinator.close();
  await issuer.close();
  await upstream.close();
});

const token = (sub: string, claims: object = {}): Promise<string> =>
  issuer.token({ sub, scope: 'openid ai:chat', ...claims });

function ask(path: string, bearer: string, headers: Record<string, string> = { origin: PAGE }): Promise<Response> {
  return fetch(`${coordinator.url}${path}`, { headers: { authorization: `Bearer ${bearer}`, ...headers } });
}

function complete(bearer: string, content: string, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(`${coordinator.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${bearer}`, 'content-type': 'application/json', origin: PAGE, ...headers },
    body: JSON.stringify({ model: 'small', messages: [{ role: 'user', content }] }),
  });
}

describe('the origins of a caller', () => {
  it('are asked for on the request itself, for keys and for tokens', async () => {
    for (const bearer of [PAGE_KEY, await token('user-1')]) {
      expect((await ask('/v1/models', bearer)).status).toBe(200);
      for (const headers of [{ origin: OTHER_PAGE }, { origin: 'null' }, { origin: `${PAGE}.evil.example` }, {}]) {
        const response = await ask('/v1/models', bearer, { ...headers });
        expect([response.status, await response.json()]).toMatchObject([403, { error: { code: 'forbidden' } }]);
      }
      expect((await complete(bearer, 'hello', { origin: OTHER_PAGE })).status).toBe(403);
    }
    expect(upstream.requests).toHaveLength(0);
  });

  it('are not those of another caller', async () => {
    for (const headers of [{ origin: PAGE }, { origin: OTHER_PAGE }, {}])
      expect((await ask('/v1/models', KEY, { ...headers })).status).toBe(200);
  });

  it('are known to preflights, and may read what they are refused', async () => {
    const preflight = await fetch(`${coordinator.url}/v1/models`, {
      method: 'OPTIONS',
      headers: {
        origin: PAGE,
        'access-control-request-method': 'GET',
        'access-control-request-headers': 'authorization',
      },
    });
    expect([preflight.status, preflight.headers.get('access-control-allow-origin')]).toEqual([204, PAGE]);
    const refused = await ask('/v1/models', 'wrong-key');
    expect([refused.status, refused.headers.get('access-control-allow-origin')]).toEqual([401, PAGE]);
  });
});

describe('the bearer of a token', () => {
  it('has the tier that its claim means', async () => {
    const allowed = async (claims: object): Promise<unknown> => {
      const { data } = (await (await ask('/v1/models', await token('user-1', claims))).json()) as {
        data: { id: string; allowed: boolean }[];
      };
      return data.filter((model) => model.allowed).map(({ id }) => id);
    };
    expect(await allowed({ plan: 'gold' })).toEqual(['small', 'large']);
    expect(await allowed({ plan: 'golden' })).toEqual(['small']);
  });

  it('has the scopes that its claim means, and its acts are told apart by the user', async () => {
    expect((await complete(await token('user-1', { scope: 'openid' }), 'hello')).status).toBe(403);
    expect((await ask('/v1/status', await token('user-1'))).status).toBe(403);
    expect((await ask('/v1/status', await token('ops-1', { scope: 'ai:admin' }))).status).toBe(200);
    expect((await ask('/v1/usage?caller=backend', await token('ops-1', { scope: 'ai:admin' }))).status).toBe(200);
    const acts = coordinator
      .logs()
      .split('\n')
      .filter((line) => line.includes('"msg":"admin act"'))
      .map((line) => JSON.parse(line) as object);
    const common = { act: 'GET /v1/status', caller: 'pages', issuer: issuer.name };
    expect(acts).toMatchObject([
      { ...common, level: 'warn', result: 'refused', subject: 'user-1' },
      { ...common, level: 'info', result: 'done', subject: 'ops-1' },
      { ...common, act: 'GET /v1/usage', usage_of: 'backend', subject: 'ops-1' },
    ]);
  });

  it('is given neither the answers of another one nor those that belong to its Idempotency-Key', async () => {
    upstream.requests.length = 0;
    const [one, other] = [await token('user-1'), await token('user-2')];
    const replies = (text: string): void => {
      upstream.play(json(200, completion(text)));
    };
    const text = async (answer: Promise<Response>): Promise<string> => (await answer).text();
    replies('for one');
    expect(await text(complete(one, 'same'))).toContain('for one');
    expect(await text(complete(one, 'keyed', { 'idempotency-key': 'k' }))).toContain('for one');
    replies('for the other');
    expect(await text(complete(other, 'same'))).toContain('for the other');
    expect(await text(complete(other, 'keyed', { 'idempotency-key': 'k' }))).toContain('for the other');
    expect(await text(complete(await token('user-1'), 'same'))).toContain('for one');
    expect(upstream.requests).toHaveLength(4);
  });
});

describe('whoever tries keys', () => {
  it('is damped by the address that a trusted proxy tells, and nobody else is', async () => {
    const from = (address: string, bearer: string): Promise<Response> =>
      ask('/v1/models', bearer, { 'x-forwarded-for': address });
    const answers: Response[] = [];
    for (let index = 0; index < 25; index += 1) answers.push(await from('203.0.113.1', `guess-${String(index)}`));
    expect([answers[0]?.status, answers.at(-1)?.status]).toEqual([401, 429]);
    expect(Number(answers.at(-1)?.headers.get('retry-after'))).toBeGreaterThan(0);
    expect([(await from('203.0.113.1', KEY)).status, (await from('203.0.113.2', KEY)).status]).toEqual([429, 200]);
    expect(coordinator.logs()).not.toContain('guess-');
  });

  it('and no key or token is in the log', async () => {
    const bearer = await token('user-1');
    await ask('/v1/models', bearer);
    await ask('/v1/models', KEY, {});
    for (const secret of [KEY, PAGE_KEY, bearer.slice(-40)]) expect(coordinator.logs()).not.toContain(secret);
  });
});
