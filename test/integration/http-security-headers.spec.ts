import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Controller, Get, Header, Post, type MessageEvent, Sse } from '@nestjs/common';
import { type Observable, of } from 'rxjs';
import { ApiError, serveDocs } from '../../src/http/index.js';
import { startHttpApp, type HttpApp } from '../support/http-app.js';
import { exchange, parseAnswer, type RawAnswer, RawConnection } from '../support/raw-http.js';

@Controller('v1/things')
class ThingsController {
  @Get()
  list(): object {
    return { private: true };
  }

  @Get('shared')
  @Header('cache-control', 'max-age=60')
  shared(): object {
    return {};
  }

  @Get('fail')
  fail(): never {
    throw new ApiError('rate_limit_exceeded', 'too many');
  }

  @Get('broken')
  broken(): never {
    throw new Error('nobody foresaw this');
  }

  @Sse('events')
  events(): Observable<MessageEvent> {
    return of({ data: { a: 1 } });
  }

  @Post()
  take(): object {
    return {};
  }
}

const APP = 'https://app.example';
const API_POLICY = "default-src 'none';frame-ancestors 'none'";

let server: HttpApp;
beforeAll(async () => {
  server = await startHttpApp({
    controllers: [ThingsController],
    corsOrigins: [APP],
    trustProxy: ['127.0.0.1'],
    bodyLimitBytes: 1_024,
    prepare: (app) => {
      serveDocs(app, { version: '1.2.3' });
    },
  });
});
afterAll(() => server.close());

const ask = (path: string, headers = ''): Promise<RawAnswer> =>
  exchange(server.port, `GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${headers}\r\n`);

const post = (headers: string, body = ''): Promise<RawAnswer> =>
  exchange(server.port, `POST /v1/things HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${headers}\r\n${body}`);

/** Nest leaves the connection of a stream open. */
async function events(headers = ''): Promise<RawAnswer> {
  const connection = await RawConnection.open(server.port);
  connection.write(`GET /v1/things/events HTTP/1.1\r\nHost: x\r\n${headers}\r\n`);
  const answer = parseAnswer(await connection.until(/data: /));
  connection.destroy();
  return answer;
}

describe('the headers of an answer', () => {
  const ANSWERS: readonly (readonly [string, number, () => Promise<RawAnswer>])[] = [
    ['of a handler', 200, () => ask('/v1/things')],
    ["of a handler's error", 429, () => ask('/v1/things/fail')],
    ['of an error that nobody foresaw', 500, () => ask('/v1/things/broken')],
    ['of a path that is not served', 404, () => ask('/v1/none')],
    ['of a path that cannot be read', 400, () => ask('/v1/%zz')],
    ['of a method that is not served', 405, () => exchange(server.port, deleteThings)],
    ['of a body that is too large', 413, () => post('Content-Length: 2000\r\nContent-Type: application/json\r\n')],
    ['of a body of another type', 415, () => post('Content-Length: 1\r\nContent-Type: text/plain\r\n', 'a')],
    ['of a compressed body', 415, () => post('Content-Length: 1\r\nContent-Encoding: gzip\r\n', 'a')],
    ['of too many fields', 431, () => ask('/v1/things', 'a: b\r\n'.repeat(201))],
    ['of too large headers', 431, () => ask('/v1/things', `a: ${'b'.repeat(20_000)}\r\n`)],
    ['of what is not HTTP', 400, () => exchange(server.port, 'hello\r\n\r\n')],
    ['of CONNECT', 405, () => exchange(server.port, 'CONNECT a.example:443 HTTP/1.1\r\nHost: a.example\r\n\r\n')],
    ['of a preflight', 204, () => exchange(server.port, preflight)],
    ['of a stream of events', 200, events],
  ];
  const deleteThings = 'DELETE /v1/things HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n';
  const preflight = `OPTIONS /v1/things HTTP/1.1\r\nHost: x\r\nConnection: close\r\nOrigin: ${APP}\r\nAccess-Control-Request-Method: POST\r\n\r\n`;

  it.each(ANSWERS)('make it nothing but data: %s', async (_name, status, answered) => {
    const answer = await answered();
    expect(answer.status).toBe(status);
    expect(answer.headers).toMatchObject({
      'content-security-policy': API_POLICY,
      'cross-origin-resource-policy': 'same-origin',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
    });
    expect(answer.headers).toHaveProperty('x-request-id');
    for (const name of ['x-powered-by', 'server', 'strict-transport-security'])
      expect(answer.headers).not.toHaveProperty(name);
    if (status >= 400) expect(answer.headers['cache-control']).toBe('no-store');
    if (status >= 400) expect(JSON.parse(answer.body)).toHaveProperty('error.code');
  });

  it('keep what is private from caches, unless the handler knows better', async () => {
    expect((await ask('/v1/things')).headers['cache-control']).toBe('no-store');
    expect((await events()).headers['cache-control']).toContain('no-store');
    expect((await ask('/v1/things/shared')).headers['cache-control']).toBe('max-age=60');
  });

  it('leave CORS as it is', async () => {
    for (const path of ['/v1/things', '/v1/things/fail', '/v1/none']) {
      const { headers } = await ask(path, `Origin: ${APP}\r\n`);
      expect([path, headers['access-control-allow-origin']]).toEqual([path, APP]);
    }
    expect((await events(`Origin: ${APP}\r\n`)).headers['access-control-allow-origin']).toBe(APP);
  });

  it('ask for TLS where the trusted proxy says that the client came by it, and only there', async () => {
    for (const path of ['/v1/things', '/v1/none', '/docs']) {
      const { headers } = await ask(path, 'X-Forwarded-Proto: https\r\n');
      expect([path, headers['strict-transport-security']]).toEqual([path, 'max-age=31536000']);
    }
    const untrusting = await startHttpApp({ controllers: [ThingsController] });
    const text = 'GET /v1/things HTTP/1.1\r\nHost: x\r\nConnection: close\r\nX-Forwarded-Proto: https\r\n\r\n';
    expect((await exchange(untrusting.port, text)).headers).not.toHaveProperty('strict-transport-security');
    await untrusting.close();
  });
});

describe('the policy of /docs', () => {
  it('allows whatever the page loads, and nothing else', async () => {
    const page = await ask('/docs');
    const policy = policyOf(page);
    expect(page.status).toBe(200);
    expect(
      loadedBy(page.body).map(({ directive, source }) => [directive, source, allows(policy, directive, source)]),
    ).toEqual(loadedBy(page.body).map(({ directive, source }) => [directive, source, true]));
    expect(loadedBy(page.body).filter(({ directive }) => directive === 'script-src').length).toBeGreaterThan(2);
    expect(loadedBy(page.body)).toContainEqual({ directive: 'style-src', source: 'inline' });
    expect(allows(policy, 'script-src', 'inline')).toBe(false);
    expect(allows(policy, 'script-src', 'https://evil.example/a.js')).toBe(false);
    expect(allows(policy, 'connect-src', './v1/things')).toBe(true);
    expect(allows(policy, 'connect-src', 'https://evil.example/')).toBe(false);
    expect(allows(policy, 'object-src', './a')).toBe(false);
    expect(policy.get('frame-ancestors')).toEqual(["'none'"]);
    // Pictures inside the style sheet.
    expect(allows(policy, 'img-src', 'data:image/svg+xml,x')).toBe(true);
  });

  it('would not do for a page with a script of its own: the check sees it', () => {
    const policy = new Map([['script-src', ["'self'"]]]);
    const planted = loadedBy('<script>alert(1)</script><script src="https://evil.example/a.js"></script>');
    expect(planted.map(({ directive, source }) => allows(policy, directive, source))).toEqual([false, false]);
  });

  it('holds for the files of the page, and not beyond it', async () => {
    const script = await ask('/docs/swagger-ui-init.js');
    expect(script.status).toBe(200);
    expect(policyOf(script).get('script-src')).toEqual(["'self'"]);
    expect((await ask('/docs-json')).headers['content-security-policy']).toBe(API_POLICY);
    expect((await ask('/docs/none.js')).headers['content-security-policy']).toBe(API_POLICY);
  });
});

describe('a connection that is kept', () => {
  it('carries the headers on each answer', async () => {
    const connection = await RawConnection.open(server.port);
    connection.write('GET /v1/things HTTP/1.1\r\nHost: x\r\n\r\n');
    await connection.until(/\{"private":true\}/);
    connection.write('GET /v1/none HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
    const text = await connection.closed();
    expect(text.match(/^x-frame-options: DENY\r$/gim)).toHaveLength(2);
    expect(parseAnswer(text).status).toBe(200);
  });
});

function policyOf({ headers }: RawAnswer): ReadonlyMap<string, readonly string[]> {
  const directives = (headers['content-security-policy'] ?? '').split(';').map((each) => each.trim().split(/\s+/));
  return new Map(directives.map(([name = '', ...sources]) => [name, sources]));
}

interface Load {
  readonly directive: string;
  /** A URL, or `inline`. */
  readonly source: string;
}

/** What a browser fetches or runs for a page. */
function loadedBy(html: string): readonly Load[] {
  const elements = [...html.matchAll(/<(script|link|img|image)\b([^>]*)>/g)];
  return [...elements.map(([, name = '', attributes = '']) => loadOf(name, attributes)), ...inlineOf(html)];
}

function loadOf(name: string, attributes: string): Load {
  const source = attributeOf(attributes, name === 'link' ? 'href' : 'src') ?? 'inline';
  if (name === 'script') return { directive: 'script-src', source };
  return { directive: attributeOf(attributes, 'rel') === 'stylesheet' ? 'style-src' : 'img-src', source };
}

function inlineOf(html: string): readonly Load[] {
  const found: Load[] = [];
  if (/<style\b|\sstyle=/.test(html)) found.push({ directive: 'style-src', source: 'inline' });
  if (/\son[a-z]+\s*=\s*["']|javascript:/.test(html)) found.push({ directive: 'script-src', source: 'inline' });
  return found;
}

function attributeOf(attributes: string, name: string): string | undefined {
  return new RegExp(`\\b${name}=["']([^"']*)["']`).exec(attributes)?.[1];
}

/** CSP Level 3, as far as our policies use it. */
function allows(policy: ReadonlyMap<string, readonly string[]>, directive: string, source: string): boolean {
  const sources = policy.get(directive) ?? policy.get('default-src') ?? [];
  if (source === 'inline') return sources.includes("'unsafe-inline'");
  if (source.startsWith('data:')) return sources.includes('data:');
  const url = new URL(source, `${server.url}/docs`);
  return sources.includes("'self'") && url.origin === server.url;
}
