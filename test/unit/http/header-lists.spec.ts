import { describe, expect, it } from '@jest/globals';
import { forwardedRequestHeaders, forwardedResponseHeaders } from '../../../src/http/index.js';
import { isLoopbackHost } from '../../../src/http/host-rule.js';
import { requestIdOf } from '../../../src/http/request-id.js';
import { methodNotAllowed, pathOf, routeNotFound, RouteTable } from '../../../src/http/route-table.js';

const TRACE = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';

describe('forwardedRequestHeaders()', () => {
  it('passes only what is listed, never the caller’s key or cookies (gateway row 51)', () => {
    expect(
      forwardedRequestHeaders({
        authorization: 'Bearer caller-key',
        cookie: 'session=1',
        host: 'here',
        connection: 'keep-alive, x-secret',
        'x-secret': '1',
        'x-api-key': 'k',
        'proxy-authorization': 'Basic x',
        'x-forwarded-for': '10.0.0.1',
        'x-coordinator-strict': 'true',
        'openai-organization': 'org-1',
        'openai-beta': 'assistants=v2',
        traceparent: TRACE,
        tracestate: 'vendor=1',
      }),
    ).toEqual({ 'openai-beta': 'assistants=v2', traceparent: TRACE, tracestate: 'vendor=1' });
  });

  it.each([
    { traceparent: 'x' },
    { traceparent: TRACE.replace(/^00/, 'ff') },
    { traceparent: `00-${'0'.repeat(32)}-00f067aa0ba902b7-01` },
    { traceparent: `00-4bf92f3577b34da6a3ce929d0e0e4736-${'0'.repeat(16)}-01` },
    { tracestate: 'vendor=1' },
    { tracestate: 'vendor=1', traceparent: 'x' },
    { 'openai-beta': 'x'.repeat(257) },
    { 'openai-beta': 'a\u00e9' },
    {},
  ])('drops what is not sane: %p', (headers) => {
    expect(forwardedRequestHeaders(headers)).toEqual({});
  });

  it('bounds tracestate', () => {
    expect(forwardedRequestHeaders({ traceparent: TRACE, tracestate: 'x'.repeat(513) })).toEqual({
      traceparent: TRACE,
    });
  });
});

describe('forwardedResponseHeaders()', () => {
  it('passes only what is listed', () => {
    expect(
      forwardedResponseHeaders({
        'openai-processing-ms': '321',
        'openai-version': '2020-10-01',
        'openai-organization': 'org-secret',
        'set-cookie': ['a=1'],
        server: 'cloudflare',
        'transfer-encoding': 'chunked',
        'x-request-id': 'upstream',
        'x-ratelimit-remaining-requests': '1',
      }),
    ).toEqual({ 'openai-processing-ms': '321', 'openai-version': '2020-10-01' });
    expect(forwardedResponseHeaders({ 'openai-processing-ms': 'soon', 'openai-version': 'a b' })).toEqual({});
  });
});

describe('isLoopbackHost()', () => {
  it.each(['localhost', 'LOCALHOST:1', '127.0.0.1', '127.255.255.254:65535', '[::1]', '[0:0:0:0:0:0:0:1]:80'])(
    'knows %s',
    (host) => {
      expect(isLoopbackHost(host)).toBe(true);
    },
  );

  it.each([
    undefined,
    '',
    'example.com',
    'localhost.',
    'localhost:',
    'localhost:1:2',
    '128.0.0.1',
    '127.1',
    '::1',
    '[::1',
    '[::2]',
    '127.0.0.1@evil',
    'evil#localhost',
  ])('refuses %s', (host) => {
    expect(isLoopbackHost(host)).toBe(false);
  });
});

describe('requestIdOf()', () => {
  const idFor = (given: string | undefined): string =>
    requestIdOf({ headers: given === undefined ? {} : { 'x-request-id': given } });

  it('keeps a sane id', () => {
    expect(idFor('A-1.b:c_d')).toBe('A-1.b:c_d');
  });

  it.each([undefined, '', 'a\nb', 'a b', '../x', 'x'.repeat(129)])('makes one in place of %p', (given) => {
    expect(idFor(given)).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4/);
  });
});

describe('RouteTable', () => {
  const routes = new RouteTable();
  routes.add(['GET', 'HEAD'], '/v1/models/:id');
  routes.add('GET', '/v1/models');
  routes.add('DELETE', '/v1/models/:id');
  routes.add('GET', '/docs/*');
  routes.add('OPTIONS', '*');

  it.each([
    ['/v1/models', ['GET', 'OPTIONS']],
    ['/v1/models/a', ['DELETE', 'GET', 'HEAD', 'OPTIONS']],
    ['/v1/mode%6cs/a%2fb', ['DELETE', 'GET', 'HEAD', 'OPTIONS']],
    ['/docs/', ['GET', 'OPTIONS']],
    ['/docs/a/b', ['GET', 'OPTIONS']],
    ['/v1/models/', []],
    ['/v1/models/a/b', []],
    ['/docs', []],
    ['/', []],
  ])('knows what %s answers', (path, methods) => {
    expect(routes.methodsAt(path)).toEqual(methods);
  });

  it('refuses a malformed percent-encoding', () => {
    expect(() => routes.methodsAt('/v1/%zz')).toThrow(expect.objectContaining({ code: 'invalid_request' }));
  });

  it.each([
    ['/a?b=c', '/a'],
    ['/a#b?c', '/a'],
    ['http://host:1/a?b', '/a'],
    ['HTTPS://host', '/'],
    ['*', '*'],
    ['', '/'],
  ])('takes the path of %s', (url, path) => {
    expect(pathOf(url)).toBe(path);
  });

  it('shows a path safely', () => {
    expect(routeNotFound('GET', `/${'x'.repeat(500)}?key=1`).message).toBe(`no route for GET /${'x'.repeat(199)}…`);
    expect(methodNotAllowed('PUT', '/a\u0000\u00e9b', ['GET']).message).toBe(
      'PUT is not allowed on /a??b; allowed: GET',
    );
  });
});
