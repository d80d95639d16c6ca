import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Controller, Get, HttpCode, Post } from '@nestjs/common';
import { DEFAULT_LIMITS } from '../../src/http/index.js';
import { startHttpApp, type HttpApp } from '../support/http-app.js';
import { exchange, parseAnswer, RawConnection } from '../support/raw-http.js';

@Controller()
class PlainController {
  @Get('plain')
  plain(): object {
    return { plain: true };
  }

  @Get('slow')
  async slow(): Promise<object> {
    await new Promise((resolve) => setTimeout(resolve, 150));
    return { slow: true };
  }

  @Post('plain')
  @HttpCode(200)
  take(): object {
    return { taken: true };
  }
}

let server: HttpApp;
beforeAll(async () => {
  const limits = { ...DEFAULT_LIMITS, headersMs: 600, requestMs: 1_500, checkEveryMs: 50, headerBytes: 8_192 };
  server = await startHttpApp({ controllers: [PlainController], limits });
});
afterAll(() => server.close());

function expectShape(answer: { body: string; headers: Readonly<Record<string, string>> }, code: string): void {
  expect(JSON.parse(answer.body)).toMatchObject({ error: { code, param: null } });
  expect(answer.headers).toMatchObject({
    connection: 'close',
    'content-type': 'application/json; charset=utf-8',
    'x-content-type-options': 'nosniff',
  });
  expect(answer.headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
  expect(Number(answer.headers['content-length'])).toBe(Buffer.byteLength(answer.body));
}

describe('what is not HTTP', () => {
  it.each([
    ['garbage', 'hello\r\n\r\n'],
    ['an unknown method', 'BREW /plain HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['a broken header', 'GET /plain HTTP/1.1\r\nHost x\r\n\r\n'],
    ['a bad content-length', 'POST /plain HTTP/1.1\r\nHost: x\r\nContent-Length: ten\r\n\r\n'],
    ['two lengths', 'POST /plain HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n'],
    [
      'a broken chunk',
      'POST /plain HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n',
    ],
    ['TLS', '\u0016\u0003\u0001\u0002\u0000'],
  ])('answers 400 in the shape and closes: %s', async (_name, text) => {
    const answer = await exchange(server.port, text);
    expect(answer.status).toBe(400);
    expectShape(answer, 'invalid_request');
  });

  it.each([
    ['HTTP/1.2', 'GET /plain HTTP/1.2\r\nHost: x\r\n\r\n'],
    ['HTTP/2.0', 'GET /plain HTTP/2.0\r\nHost: x\r\n\r\n'],
    ['HTTP/2 with a body', 'POST /plain HTTP/2.0\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}'],
    ['HTTP/2 by prior knowledge', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ['HTTP/3.0', 'GET /plain HTTP/3.0\r\nHost: x\r\n\r\n'],
    ['HTTP/0.9 by name', 'GET /plain HTTP/0.9\r\n\r\n'],
    ['no version at all', 'GET /plain HTTP/x\r\n\r\n'],
  ])('answers 505 to another version, and closes: %s', async (_name, text) => {
    const answer = await exchange(server.port, text);
    expect(answer.status).toBe(505);
    expectShape(answer, 'http_version_unknown');
    expect(answer.headers['x-should-retry']).toBe('false');
  });

  it('begins nothing that comes behind another version', async () => {
    const text = 'GET /plain HTTP/2.0\r\nHost: x\r\n\r\nPOST /plain HTTP/1.1\r\nHost: x\r\n\r\n';
    const connection = await RawConnection.open(server.port);
    connection.write(text);
    expect((await connection.closed()).match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 505']);
  });

  it('answers 431 to too large headers', async () => {
    const answer = await exchange(
      server.port,
      `GET /plain HTTP/1.1\r\nHost: x\r\nX-Big: ${'x'.repeat(20_000)}\r\n\r\n`,
    );
    expect(answer.status).toBe(431);
    expectShape(answer, 'headers_too_large');
  });

  it('answers 405 to CONNECT', async () => {
    const answer = await exchange(server.port, 'CONNECT example.com:443 HTTP/1.1\r\nHost: example.com\r\n\r\n');
    expect(answer.status).toBe(405);
    expectShape(answer, 'method_not_allowed');
  });

  it('answers 400 to HTTP/1.1 without Host, and lets HTTP/1.0 be', async () => {
    const answer = await exchange(server.port, 'GET /plain HTTP/1.1\r\nConnection: close\r\n\r\n');
    expect(answer.status).toBe(400);
    expectShape(answer, 'invalid_request');
    expect((await exchange(server.port, 'GET /plain HTTP/1.0\r\n\r\n')).status).toBe(200);
  });

  it.each(['a b', 'a@b', 'a/b', 'http://a', 'a:b', 'a,b c', '[::1', '[zz]', '\u00ff', 'a%zz', '<script>'])(
    'answers 400 to a Host that is none: %s',
    async (host) => {
      const answer = await exchange(server.port, `GET /plain HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
      expect(answer.status).toBe(400);
      expectShape(answer, 'invalid_request');
    },
  );

  it.each(['', 'x', 'a.example:8080', 'a.example.', '127.0.0.1:1', '[::1]', '[::1]:80', 'my_host-1', 'a%20b', 'x:'])(
    'takes a Host that is one: %s',
    async (host) => {
      const text = `GET /plain HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`;
      expect((await exchange(server.port, text)).status).toBe(200);
    },
  );

  it('ignores an expectation it does not know', async () => {
    const answer = await exchange(
      server.port,
      'GET /plain HTTP/1.1\r\nHost: x\r\nExpect: tea\r\nConnection: close\r\n\r\n',
    );
    expect(answer.status).toBe(200);
  });

  it('takes an absolute-form target', async () => {
    const answer = await exchange(
      server.port,
      'GET http://a.example/plain HTTP/1.1\r\nHost: a.example\r\nConnection: close\r\n\r\n',
    );
    expect(answer.status).toBe(200);
    const missing = await exchange(
      server.port,
      'GET http://a.example/none?k=1 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n',
    );
    expect(JSON.parse(missing.body)).toMatchObject({ error: { message: 'no route for GET /none' } });
  });

  it('answers 404 to an asterisk-form target', async () => {
    expect((await exchange(server.port, 'OPTIONS * HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')).status).toBe(
      404,
    );
  });
});

describe('slow clients', () => {
  it('answers 408 to headers that never end', async () => {
    const answer = await exchange(server.port, 'GET /plain HTTP/1.1\r\nHost: x\r\n');
    expect(answer.status).toBe(408);
    expectShape(answer, 'request_timeout');
  });

  it('answers 408 to a body that never ends', async () => {
    const text =
      'POST /plain HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"a":';
    const answer = await exchange(server.port, text);
    expect(answer.status).toBe(408);
    expectShape(answer, 'request_timeout');
  });

  it('takes a body that drips in within the time', async () => {
    const connection = await RawConnection.open(server.port);
    connection.write(
      'POST /plain HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: 7\r\n\r\n',
    );
    for (const char of '{"a":1}') {
      connection.write(char);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    expect(parseAnswer(await connection.closed()).status).toBe(200);
  });
});

describe('one connection, many requests', () => {
  it('answers pipelined requests in order', async () => {
    const connection = await RawConnection.open(server.port);
    connection.write(
      'GET /slow HTTP/1.1\r\nHost: x\r\n\r\nGET /plain HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n',
    );
    const text = await connection.closed();
    expect(text.match(/HTTP\/1\.1 200/g)).toHaveLength(2);
    expect(text.indexOf('slow')).toBeLessThan(text.indexOf('plain'));
  });

  it('never gives the error of a later request as the answer to an earlier one', async () => {
    const connection = await RawConnection.open(server.port);
    connection.write('GET /slow HTTP/1.1\r\nHost: x\r\n\r\nnonsense\r\n\r\n');
    expect(await connection.closed()).toMatch(/^HTTP\/1\.1 200 [^]*\{"slow":true\}HTTP\/1\.1 400 /);
  });

  it('reports nothing of all this as an internal error', () => {
    expect(server.reported).toEqual([]);
  });
});
