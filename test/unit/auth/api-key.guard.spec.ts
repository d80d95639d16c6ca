import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { createLogger } from '../../../src/observability/index.js';
import { startAuthApp } from '../../support/auth-app.js';
import { callerWithKey } from '../../support/callers.js';
import { LogLines } from '../../support/log-lines.js';

const KEY = 'coord-live-4f6c2b';
const ADMIN_KEY = 'coord-admin-91ab77';
const WRONG_KEY = 'coord-wrong-77aa00';

describe('ApiKeyGuard', () => {
  const log = new LogLines();
  const acme = callerWithKey(KEY);
  const [{ sha256 } = { sha256: '' }] = acme.keys;
  let app: NestFastifyApplication;

  beforeAll(async () => {
    const ops = callerWithKey(ADMIN_KEY, { name: 'ops', scopes: ['chat', 'admin'] });
    app = await startAuthApp([acme, ops], createLogger({ level: 'trace', secrets: [] }, log));
  });
  afterAll(() => app.close());

  const get = (url: string, key?: string) =>
    app.inject({ method: 'GET', url, headers: key === undefined ? {} : { authorization: `Bearer ${key}` } });

  it('tells the handler who calls', async () => {
    const response = await get('/whoami', KEY);
    expect(response.json()).toEqual({ id: 'acme', tier: 'pro', scopes: ['chat'], weight: 3, limits: {} });
  });

  it('row 49: answers a wrong key, a malformed one and none with one generic 401', async () => {
    const responses = [
      await get('/whoami'),
      await get('/whoami', WRONG_KEY),
      await app.inject({ method: 'GET', url: '/whoami', headers: { authorization: `Basic ${WRONG_KEY}` } }),
      await app.inject({
        method: 'POST',
        url: '/echo',
        payload: { a: 1 },
        headers: { authorization: `Bearer ${WRONG_KEY}` },
      }),
    ];
    for (const response of responses) {
      expect(response.statusCode).toBe(401);
      expect(response.headers['www-authenticate']).toBe('Bearer');
      expect(response.body).toBe(responses[0]?.body);
    }
    const [{ body } = { body: '' }] = responses;
    for (const leak of [WRONG_KEY, sha256, 'sha', 'coordinator', 'nest', 'acme']) {
      expect(body.toLowerCase()).not.toContain(leak);
    }
  });

  it('row 50: leaves no key, right or wrong, and no hash in the log or the metrics', async () => {
    await get('/whoami', KEY);
    await get('/whoami', WRONG_KEY);
    await get(`/whoami?key=${WRONG_KEY}`, KEY);
    await get(`/${WRONG_KEY}`, KEY);
    const { body: metrics } = await get('/metrics');
    expect(log.records.some(({ caller }) => caller === 'acme')).toBe(true);
    for (const secret of [KEY, WRONG_KEY, sha256]) {
      expect(log.text).not.toContain(secret);
      expect(metrics).not.toContain(secret);
    }
  });

  it('lets everybody through to public routes, with or without a body', async () => {
    expect((await get('/open')).body).toBe('open');
    expect((await get('/open', WRONG_KEY)).body).toBe('open');
    expect((await get('/all-open')).body).toBe('open');
    expect((await app.inject({ method: 'POST', url: '/open', payload: { a: 1 } })).body).toBe('open');
    expect((await app.inject({ method: 'POST', url: '/open/7', payload: { a: 1 } })).body).toBe('open');
  });

  it('fails a handler that asks for the caller of a public route', async () => {
    expect((await get('/nobody', KEY)).json()).toEqual({ error: { message: 'no caller on a public route' } });
  });

  it('asks for the scope that a method or a controller names', async () => {
    const refused = await get('/admin-only', KEY);
    expect(refused.statusCode).toBe(403);
    expect(refused.json()).toEqual({
      error: { code: 'insufficient_scope', message: 'this API key lacks the scope "admin"' },
    });
    expect((await get('/all-admin', KEY)).statusCode).toBe(403);
    expect((await get('/admin-only', ADMIN_KEY)).body).toBe('admin');
    expect((await get('/all-admin', ADMIN_KEY)).body).toBe('admin');
  });

  it('has one line written of each act of an operator, also of one that was refused, and of nobody else', async () => {
    log.text = '';
    for (const url of ['/admin-only', '/all-admin', '/whoami']) await get(url, ADMIN_KEY);
    await get('/admin-only', KEY);
    await get('/admin-only', WRONG_KEY);
    const acts = log.records.filter(({ msg }) => msg === 'admin act');
    const common = { address: '127.0.0.1', request_id: expect.any(String) };
    expect(acts).toMatchObject([
      { ...common, level: 'info', act: 'GET /admin-only', caller: 'ops', result: 'done' },
      { ...common, level: 'info', act: 'GET /all-admin', caller: 'ops', result: 'done' },
      {
        ...common,
        level: 'warn',
        act: 'GET /admin-only',
        caller: 'acme',
        result: 'refused',
        code: 'insufficient_scope',
      },
    ]);
    expect(log.text).not.toContain(ADMIN_KEY);
  });

  it('asks for the key before it asks for a scope', async () => {
    expect((await get('/admin-only')).statusCode).toBe(401);
  });
});

describe('ApiKeyGuard without callers', () => {
  let app: NestFastifyApplication;

  beforeAll(async () => {
    app = await startAuthApp([], createLogger({ level: 'silent', secrets: [] }));
  });
  afterAll(() => app.close());

  it.each([undefined, 'Bearer anything', 'Basic nonsense', ''])(
    'takes Authorization %j for anonymous',
    async (authorization) => {
      const headers = authorization === undefined ? {} : { authorization };
      const response = await app.inject({ method: 'GET', url: '/whoami', headers });
      expect(response.json()).toMatchObject({ id: 'anonymous', tier: 'enterprise', scopes: ['chat', 'admin'] });
      const admin = await app.inject({ method: 'GET', url: '/admin-only', headers });
      expect(admin.body).toBe('admin');
    },
  );
});
