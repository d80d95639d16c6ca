import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { HealthModule, type HealthOptions, type Phase, type StoreState } from '../../src/health/index.js';
import { PUBLIC_ROUTE } from '../../src/http/index.js';
import { HealthController } from '../../src/health/health.controller.js';
import { startHttpApp, type HttpApp } from '../support/http-app.js';

let server: HttpApp;
let phase: Phase = 'serving';
let store: StoreState = { kind: 'memory' };
let looks = 0;

beforeEach(async () => {
  [phase, store, looks] = ['serving', { kind: 'memory' }, 0];
  const options: HealthOptions = {
    phase: () => phase,
    store: () => store,
    upstreams: () => {
      looks += 1;
      return [{ provider: 'simulator', models: ['gpt-4.1'], state: 'cooldown' }];
    },
  };
  server = await startHttpApp({ imports: [HealthModule.forRoot(options)] });
});
afterEach(() => server.close());

const get = (path: string, method = 'GET'): Promise<Response> => fetch(`${server.url}${path}`, { method });

describe('GET /health', () => {
  it('says ok and asks nobody, whatever the pod is doing', async () => {
    for (phase of ['booting', 'serving', 'draining'] as const) {
      store = { kind: 'redis', policy: 'refuse', downForMs: 60_000 };
      const response = await get('/health');
      expect([response.status, await response.text()]).toEqual([200, '{"status":"ok"}']);
      expect(response.headers.get('cache-control')).toBe('no-store');
    }
    expect(looks).toBe(0);
  });
});

describe('GET /ready', () => {
  it('lists the store and the upstreams, which never decide', async () => {
    const response = await get('/ready');
    expect(response.status).toBe(200);
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(await response.json()).toEqual({
      status: 'ok',
      details: {
        process: { status: 'up', phase: 'serving' },
        store: { status: 'up', kind: 'memory', note: 'single replica only' },
      },
      upstreams: [{ provider: 'simulator', models: ['gpt-4.1'], state: 'cooldown' }],
    });
  });

  it.each(['booting', 'draining'] as const)('is 503 while %s', async (now) => {
    phase = now;
    const response = await get('/ready');
    expect(response.status).toBe(503);
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(await response.json()).toMatchObject({
      status: 'error',
      details: { process: { status: 'down', phase: now } },
    });
  });

  it('is 503 when the store is away and calls would be refused, and comes back by itself', async () => {
    store = { kind: 'redis', policy: 'refuse', downForMs: 5_001 };
    expect((await get('/ready')).status).toBe(503);
    store = { kind: 'redis', policy: 'degrade', downForMs: 5_001 };
    expect((await get('/ready')).status).toBe(200);
    store = { kind: 'redis', policy: 'refuse', downForMs: 0 };
    expect((await get('/ready')).status).toBe(200);
  });

  it('is answered through the whole drain', async () => {
    await server.drain.run();
    phase = 'draining';
    expect((await get('/ready')).status).toBe(503);
    expect((await get('/health')).status).toBe(200);
  });
});

describe('probes', () => {
  it('answer HEAD without a body', async () => {
    for (const path of ['/health', '/ready']) {
      const response = await get(path, 'HEAD');
      expect([response.status, await response.text()]).toEqual([200, '']);
    }
  });

  it('need no Authorization', () => {
    for (const route of ['health', 'ready']) {
      const handler: unknown = Object.getOwnPropertyDescriptor(HealthController.prototype, route)?.value;
      expect(Reflect.getMetadata(PUBLIC_ROUTE, Object(handler) as object)).toBe(true);
    }
    expect(PUBLIC_ROUTE).toBe('coordinator:public');
  });
});
