import { afterEach, describe, expect, it } from '@jest/globals';
import { Controller, Get, Param } from '@nestjs/common';
import { ApiError } from '../../src/http/index.js';
import { startHttpApp, type HttpApp, type HttpAppOptions } from '../support/http-app.js';
import { exchange } from '../support/raw-http.js';

@Controller('v1')
class ModelsController {
  @Get('models')
  list(): object {
    return { object: 'list' };
  }

  @Get('models/:id')
  read(@Param('id') id: string): object {
    return { id };
  }

  @Get('fail')
  fail(): never {
    throw new ApiError('rate_limit_exceeded', 'too many');
  }
}

let server: HttpApp;
const start = async (options: HttpAppOptions): Promise<void> => {
  server = await startHttpApp({ controllers: [ModelsController], ...options });
};
afterEach(() => server.close());

const APP = 'https://app.example';

/** fetch forbids a script to set Origin and Host, as a browser does. */
async function request(method: string, path: string, headers: Record<string, string>): ReturnType<typeof exchange> {
  const lines = Object.entries({ Host: 'localhost', Connection: 'close', ...headers }).map(
    ([name, value]) => `${name}: ${value}\r\n`,
  );
  return exchange(server.port, `${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n`);
}

const preflight = (origin: string, path = '/v1/models'): ReturnType<typeof exchange> =>
  request('OPTIONS', path, {
    Origin: origin,
    'Access-Control-Request-Method': 'POST',
    'Access-Control-Request-Headers': 'authorization,content-type,x-stainless-os',
  });

const corsHeadersOf = (headers: Readonly<Record<string, string>>): string[] =>
  Object.keys(headers).filter((name) => name.startsWith('access-control-'));

describe('CORS', () => {
  it('answers the preflight of a listed origin', async () => {
    await start({ corsOrigins: [APP, 'http://localhost:3000'] });
    const { status, headers, body } = await preflight(APP);
    expect([status, body]).toEqual([204, '']);
    expect(headers['access-control-allow-origin']).toBe(APP);
    expect(headers['access-control-allow-credentials']).toBeUndefined();
    expect(headers['access-control-max-age']).toBe('86400');
    expect(headers['access-control-allow-methods']).toBe('GET, HEAD, POST, PUT, PATCH, DELETE');
    const allowed = (headers['access-control-allow-headers'] ?? '').split(', ');
    for (const name of [
      'authorization',
      'content-type',
      'idempotency-key',
      'x-stainless-os',
      'x-coordinator-strict',
      'last-event-id',
    ]) {
      expect(allowed).toContain(name);
    }
    expect(headers['vary']).toMatch(/Origin/i);
    expect(headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
  });

  it('exposes what a client has to read, also on errors and 404s', async () => {
    await start({ corsOrigins: [APP] });
    for (const path of ['/v1/models', '/v1/fail', '/v1/none']) {
      const { headers } = await request('GET', path, { Origin: APP });
      expect(headers['access-control-allow-origin']).toBe(APP);
      const exposed = (headers['access-control-expose-headers'] ?? '').split(', ');
      for (const name of [
        'x-request-id',
        'retry-after',
        'x-should-retry',
        'x-coordinator-model',
        'x-ratelimit-remaining-tokens',
        'etag',
      ]) {
        expect(exposed).toContain(name);
      }
    }
  });

  it.each(['/v1/%zz', `/v1/models/${'x'.repeat(600)}`])('tells a script why a path is no good: %s', async (path) => {
    await start({ corsOrigins: [APP] });
    const { status, headers } = await request('GET', path, { Origin: APP });
    expect([status, headers['access-control-allow-origin']]).toEqual([400, APP]);
  });

  it.each(['https://evil.example', 'https://app.example.evil.example', 'http://app.example', 'null'])(
    'gives no CORS header to %s',
    async (origin) => {
      await start({ corsOrigins: [APP] });
      for (const answer of [await preflight(origin), await request('GET', '/v1/models', { Origin: origin })]) {
        expect(corsHeadersOf(answer.headers)).toEqual([]);
      }
    },
  );

  it('lets any origin in by *, without credentials', async () => {
    await start({ corsOrigins: ['*'] });
    for (const answer of [
      await preflight(APP),
      await request('GET', '/v1/models', { Origin: 'https://else.example' }),
    ]) {
      expect(answer.headers['access-control-allow-origin']).toBe('*');
      expect(answer.headers['access-control-allow-credentials']).toBeUndefined();
    }
  });

  it('is off without origins', async () => {
    await start({});
    const answer = await preflight(APP);
    expect(answer.status).toBe(204);
    expect(answer.headers['allow']).toBe('GET, HEAD, OPTIONS');
    expect(corsHeadersOf(answer.headers)).toEqual([]);
  });

  it('tells a listed-origin server that an OPTIONS without Origin is no preflight', async () => {
    await start({ corsOrigins: [APP] });
    expect((await request('OPTIONS', '/v1/models', {})).headers['allow']).toBe('GET, HEAD, OPTIONS');
    expect((await request('OPTIONS', '/v1/none', {})).status).toBe(404);
  });
});

describe('Host rule', () => {
  const LOOPBACK = ['localhost', 'LocalHost:8080', '127.0.0.1', '127.8.9.10:1', '[::1]', '[::1]:8080'];
  const OTHERS = [
    'evil.example',
    'localhost.evil.example',
    '127.0.0.1.evil.example',
    '10.0.0.1',
    '0.0.0.0',
    '[::2]',
    'localhost:x',
    '',
  ];

  it.each(LOOPBACK)('answers %s', async (host) => {
    await start({ loopbackHostsOnly: true });
    expect((await request('GET', '/v1/models', { Host: host })).status).toBe(200);
  });

  it.each(OTHERS)('refuses %j with 403', async (host) => {
    await start({ loopbackHostsOnly: true });
    const answer = await request('GET', '/v1/models', { Host: host });
    expect(answer.status).toBe(403);
    expect(JSON.parse(answer.body)).toMatchObject({ error: { code: 'host_not_allowed', type: 'permission_error' } });
  });

  it.each(['/v1/none', '/v1/%zz', `/v1/models/${'x'.repeat(600)}`])('refuses any path: %s', async (path) => {
    await start({ loopbackHostsOnly: true });
    expect((await request('GET', path, { Host: 'evil.example' })).status).toBe(403);
    expect((await request('GET', path, { Host: 'localhost' })).status).toBeLessThan(405);
  });

  it('refuses a request without Host', async () => {
    await start({ loopbackHostsOnly: true });
    for (const version of ['1.0', '1.1']) {
      const answer = await exchange(server.port, `GET /v1/models HTTP/${version}\r\nConnection: close\r\n\r\n`);
      expect(answer.status).toBe(403);
    }
  });

  it('is not fooled by X-Forwarded-Host, also behind a trusted proxy', async () => {
    await start({ loopbackHostsOnly: true, trustProxy: true });
    const forged = { Host: 'evil.example', 'X-Forwarded-Host': 'localhost', Forwarded: 'host=localhost' };
    expect((await request('GET', '/v1/models', forged)).status).toBe(403);
    expect((await request('GET', '/v1/models', { 'X-Forwarded-Host': 'evil.example' })).status).toBe(200);
  });

  it('is off when callers are configured', async () => {
    await start({ loopbackHostsOnly: false });
    expect((await request('GET', '/v1/models', { Host: 'api.example' })).status).toBe(200);
  });
});
