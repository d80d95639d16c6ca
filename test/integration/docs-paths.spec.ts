import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { serveDocs } from '../../src/http/index.js';
import { startHttpApp, type HttpApp } from '../support/http-app.js';
import { exchange, type RawAnswer } from '../support/raw-http.js';

let server: HttpApp;
beforeAll(async () => {
  server = await startHttpApp({
    prepare: (app) => {
      serveDocs(app, { version: '1.2.3' });
    },
  });
});
afterAll(() => server.close());

/** fetch and URL would tidy the path. */
const ask = (path: string, headers = '', method = 'GET'): Promise<RawAnswer> =>
  exchange(server.port, `${method} ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${headers}\r\n`);

describe('/docs, asked by a stranger', () => {
  it.each([
    '/docs/..',
    '/docs/../x',
    '/docs//',
    '/docs/./x',
    '/docs/a%00b',
    '/docs/swagger-ui.css%00',
    '/docs/..%5cx',
    '/docs/%5c',
    '/docs/%2e%2e',
    '/docs/%2e%2e/package.json',
    '/docs/%2e%2e%2f%2e%2e%2fpackage.json',
    '/docs/.hidden',
    `/docs/${'x'.repeat(5_000)}`,
    '/docs/%zz',
    '/docs/*',
  ])('answers a path that leads nowhere in the error shape: %s', async (path) => {
    for (const method of ['GET', 'HEAD']) {
      const answer = await ask(path, '', method);
      expect([400, 403, 404]).toContain(answer.status);
      if (method === 'GET') expect(JSON.parse(answer.body)).toMatchObject({ error: { type: expect.any(String) } });
    }
  });

  it.each([
    ['Range: bytes=99999999-', 416, 'range_not_satisfiable'],
    ['Range: bytes=abc', 416, 'range_not_satisfiable'],
    ['If-Match: "x"', 412, 'precondition_failed'],
    ['If-Unmodified-Since: Thu, 01 Jan 1970 00:00:00 GMT', 412, 'precondition_failed'],
  ])('answers a condition that fails: %s', async (header, status, code) => {
    const answer = await ask('/docs/swagger-ui.css', `${header}\r\n`);
    expect(answer.status).toBe(status);
    expect(JSON.parse(answer.body)).toMatchObject({ error: { code } });
  });

  it('takes none of it for an error of its own', () => {
    expect(server.reported).toEqual([]);
  });
});
