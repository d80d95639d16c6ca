import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { DynamicModule } from '@nestjs/common';
import { AdminModule } from '../../src/admin/index.js';
import { AuthModule, configureAuth } from '../../src/auth/index.js';
import { serveDocs } from '../../src/http/index.js';
import {
  type Lease,
  LockLostError,
  LockModule,
  LockService,
  LockStoreError,
  MemoryLockStore,
} from '../../src/lock/index.js';
import { createLogger } from '../../src/observability/index.js';
import { callerWithKey } from '../support/callers.js';
import { eventually } from '../support/eventually.js';
import { type HttpApp, startHttpApp } from '../support/http-app.js';
import { LogLines } from '../support/log-lines.js';
import { OpenApiDocument } from '../support/openapi-document.js';
import { type Json, record } from '../support/schema.checker.js';

const operator = 'operator-key-0123456789';
const frontend = 'frontend-key-0123456789';
const callers = [
  callerWithKey(operator, { name: 'operator', scopes: ['admin'] }),
  callerWithKey(frontend, { name: 'frontend', scopes: ['chat'] }),
];
const log = new LogLines();
const admin = AdminModule.forRoot({
  status: { look: () => Promise.reject(new Error('nobody asks for it here')) },
});

function start(lock: DynamicModule): Promise<HttpApp> {
  return startHttpApp({
    imports: [lock, AuthModule.forRoot({ callers, logger: createLogger({ level: 'info', secrets: [] }, log) }), admin],
    prepare: (app) => {
      configureAuth(app);
      serveDocs(app, { version: '1.2.3' });
    },
  });
}

let server: HttpApp;
let locks: LockService;
let leases: Lease[] = [];
beforeAll(async () => {
  server = await start(LockModule.forRoot({}));
  locks = server.app.get(LockService);
});
afterEach(async () => {
  for (const lease of leases) await lease.release();
  leases = [];
});
afterAll(() => server.close());

async function hold(...given: Parameters<LockService['acquire']>): Promise<Lease> {
  const lease = await locks.acquire(...given);
  leases.push(lease);
  return lease;
}

interface Told {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Json;
}

async function ask(method: string, path: string, key = operator, at = server): Promise<Told> {
  const headers = { authorization: `Bearer ${key}` };
  const response = await fetch(`${at.url}/v1/locks${path}`, { method, headers });
  return { status: response.status, headers: response.headers, body: record(await response.json()) };
}

const at = (key: string): string => `/${encodeURIComponent(key)}`;

describe('GET /v1/locks', () => {
  it('lists what is held', async () => {
    expect((await ask('GET', '')).body).toEqual({ object: 'list', data: [], has_more: false, last_id: null });
    await hold('order:1', { description: 'paying' });
    await hold('order:2');
    const { status, headers, body } = await ask('GET', '');
    expect([status, headers.get('cache-control'), body['has_more']]).toEqual([200, 'no-store', false]);
    expect((body['data'] as Json[]).map(({ key }) => key).sort()).toEqual(['order:1', 'order:2']);
    expect(await ask('GET', '?limit=1')).toMatchObject({ body: { has_more: true, data: [{ object: 'lock' }] } });
  });

  it.each(['0', '1001', 'x'])('refuses a limit of %s', async (limit) => {
    const { status, body } = await ask('GET', `?limit=${limit}`);
    expect([status, body]).toEqual([
      400,
      { error: expect.objectContaining({ code: 'invalid_request', param: 'limit' }) },
    ]);
  });
});

describe('GET /v1/locks/{name}', () => {
  it('tells who holds a lock, since when, for how long, and who waits', async () => {
    const before = Date.now();
    const lease = await hold('order:42', { description: 'paying', leaseMs: 60_000 });
    const waiting = locks.acquire('order:42', { description: 'next' });
    await eventually(async () => (await locks.inspect('order:42'))?.queued === 1);
    const { status, headers, body } = await ask('GET', at('order:42'));
    expect([status, headers.get('cache-control')]).toEqual([200, 'no-store']);
    const [holder] = body['holders'] as Json[];
    expect(holder).toMatchObject({ description: 'paying', state: 'held', fence: lease.fence, token: lease.token });
    expect(holder?.['process']).toBe(locks.process);
    const since = Date.parse(String(holder?.['since']));
    // The store's clock is not stepped with the system's.
    expect(Math.abs(since - before)).toBeLessThan(60_000);
    expect(holder?.['lease_left_ms']).toBeGreaterThan(0);
    expect(holder?.['lease_left_ms']).toBeLessThanOrEqual(60_000);
    expect(body['queue']).toMatchObject({ length: 1, waiters: [{ description: 'next' }] });
    expect(JSON.stringify(body['queue'])).not.toContain('token');
    await lease.release();
    leases = [await waiting];
  });

  it.each(['a/b', 'user:Zoë & co?#', '%2F', 'order:*{x}', '日本', 'k'.repeat(512), '/'.repeat(160)])(
    'finds a lock by its percent-encoded key: %s',
    async (key) => {
      await hold(key);
      const { status, body } = await ask('GET', at(key));
      expect([status, body['key']]).toEqual([200, key]);
      expect(await ask('DELETE', at(key))).toMatchObject({ status: 200, body: { key, revoked: 1 } });
    },
  );

  it('knows nothing of a lock that nobody holds or waits for', async () => {
    const { status, body } = await ask('GET', at('free'));
    expect(status).toBe(404);
    const message = 'lock "free" has no holder or waiter';
    expect(body).toEqual({ error: { message, type: 'invalid_request_error', param: null, code: 'not_found' } });
  });
});

describe('DELETE /v1/locks/{name}', () => {
  it.each([
    ['', 'drain'],
    ['?mode=drain', 'drain'],
    ['?mode=now', 'now'],
  ])('takes a lock from its holder, tells it, and lets the next one in: %j', async (query, mode) => {
    const lease = await hold('job:1');
    const waiting = locks.acquire('job:1');
    await eventually(async () => (await locks.inspect('job:1'))?.queued === 1);
    const { status, body } = await ask('DELETE', `${at('job:1')}${query}`);
    expect([status, body]).toEqual([200, { object: 'lock.revocation', key: 'job:1', mode, revoked: 1 }]);
    const next = await waiting;
    leases.push(next);
    await eventually(() => lease.signal.aborted);
    expect(lease.signal.reason).toBeInstanceOf(LockLostError);
    expect(lease.signal.reason).toMatchObject({ reason: 'revoked' });
    expect(next.fence).toBeGreaterThan(lease.fence);
  });

  it('touches nothing when it is told a mode that there is not', async () => {
    const lease = await hold('job:2');
    for (const query of ['?mode=force', '?mode=', '?mode=now&mode=drain']) {
      const { status, body } = await ask('DELETE', `${at('job:2')}${query}`);
      expect([status, record(body['error'])]).toEqual([
        400,
        expect.objectContaining({ code: 'invalid_request', param: 'mode' }),
      ]);
    }
    expect((await locks.inspect('job:2'))?.holders.map(({ state }) => state)).toEqual(['held']);
    expect(lease.signal.aborted).toBe(false);
  });

  it('answers 404 where there is nothing to take', async () => {
    expect(await ask('DELETE', at('free'))).toMatchObject({ status: 404, body: { error: { code: 'not_found' } } });
  });

  it('has a line written of it: by whom, from where, of what, and to what effect', async () => {
    log.text = '';
    await hold('job:5');
    const { headers } = await ask('DELETE', `${at('job:5')}?mode=now`);
    expect((await ask('DELETE', at('job:5'))).status).toBe(404);
    const act = { act: 'DELETE /v1/locks/:name', caller: 'operator', address: '127.0.0.1', lock: 'job:5' };
    expect(log.records).toMatchObject([
      { ...act, level: 'warn', request_id: headers.get('x-request-id'), result: 'done', mode: 'now', revoked: 1 },
      { ...act, result: 'failed', code: 'not_found', revoked: 0 },
    ]);
  });
});

describe('/v1/locks', () => {
  it.each([
    ['GET', ''],
    ['GET', '/job:3'],
    ['DELETE', '/job:3?mode=now'],
  ])('is for operators alone: %s %s', async (method, path) => {
    const lease = await hold('job:3');
    expect(await ask(method, path, frontend)).toMatchObject({
      status: 403,
      body: { error: { code: 'insufficient_scope' } },
    });
    expect(await ask(method, path, 'nobody')).toMatchObject({ status: 401 });
    expect(lease.signal.aborted).toBe(false);
    expect(await locks.inspect('job:3')).toMatchObject({ holders: [{ state: 'held' }] });
  });

  it('answers as documented', async () => {
    const document = await OpenApiDocument.of(server.url);
    const expectDocumented = (id: string, { status, headers, body }: Told): void => {
      const response = document.response(document.operation(id), status) ?? {};
      const [media] = document.media(id, response);
      expect([id, status, media === undefined, document.faults(media?.schema, body)]).toEqual([id, status, false, []]);
      for (const example of media?.examples ?? []) expect(document.faults(media?.schema, example)).toEqual([]);
      const ours = [...headers.keys()].filter((name) => /^(x-request-id|retry-after|x-should|www-auth)/.test(name));
      expect(Object.keys(record(response['headers']))).toEqual(expect.arrayContaining(ours));
    };
    await hold('job:4');
    expectDocumented('listLocks', await ask('GET', ''));
    expectDocumented('listLocks', await ask('GET', '?limit=0'));
    expectDocumented('listLocks', await ask('GET', '', 'nobody'));
    expectDocumented('listLocks', await ask('GET', '', frontend));
    expectDocumented('retrieveLock', await ask('GET', '/job:4'));
    expectDocumented('retrieveLock', await ask('GET', '/free'));
    expectDocumented('retrieveLock', await ask('GET', '/%zz'));
    expectDocumented('releaseLock', await ask('DELETE', '/job:4?mode=x'));
    expectDocumented('releaseLock', await ask('DELETE', '/job:4'));
    expectDocumented('releaseLock', await ask('DELETE', '/free'));
  });

  it('has names for callers that generate a client', async () => {
    const document = await OpenApiDocument.of(server.url);
    const parameters = record(document.operation('releaseLock').value)['parameters'] as Json[];
    const mode = parameters.find(({ name }) => name === 'mode');
    expect(mode).toMatchObject({ in: 'query', required: false, schema: { enum: ['drain', 'now'], default: 'drain' } });
  });

  it('says so when the store does not answer', async () => {
    class SilentStore extends MemoryLockStore {
      override list(): Promise<never> {
        return Promise.reject(new LockStoreError('it is away'));
      }
    }
    const broken = await start(LockModule.forRoot({ lockStore: new SilentStore() }));
    try {
      const { status, headers, body } = await ask('GET', '', operator, broken);
      expect([status, body]).toEqual([503, { error: expect.objectContaining({ code: 'store_unavailable' }) }]);
      expect(headers.get('retry-after')).toBe('1');
    } finally {
      await broken.close();
    }
  });
});
