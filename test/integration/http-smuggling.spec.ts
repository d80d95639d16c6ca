import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Controller, Delete, Get, HttpCode, Post } from '@nestjs/common';
import { BodyText } from '../../src/http/index.js';
import { type HttpApp, startHttpApp } from '../support/http-app.js';
import { exchange, RawConnection } from '../support/raw-http.js';

const reached: string[] = [];

@Controller()
class DoorsController {
  @Post('echo')
  @HttpCode(200)
  echo(@BodyText() text: string): object {
    reached.push(`echo ${text}`);
    return { text };
  }

  @Get('plain')
  plain(): object {
    reached.push('plain');
    return { plain: true };
  }

  @Delete('secret')
  secret(): object {
    reached.push('secret');
    return { secret: true };
  }
}

let server: HttpApp;
beforeAll(async () => {
  server = await startHttpApp({ controllers: [DoorsController] });
});
afterAll(() => server.close());
beforeEach(() => {
  reached.length = 0;
});

const POST = 'POST /echo HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n';
const HIDDEN = 'DELETE /secret HTTP/1.1\r\nHost: x\r\n\r\n';

/** Every status line that comes before the server closes. */
async function statuses(text: string): Promise<readonly number[]> {
  const connection = await RawConnection.open(server.port);
  connection.write(text);
  const answers = await connection.closed();
  return [...answers.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => Number(status));
}

describe('a request whose end a proxy may see elsewhere', () => {
  it.each([
    ['a length and chunks', `${POST}Content-Length: 6\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`],
    ['chunks and a length', `${POST}Transfer-Encoding: chunked\r\nContent-Length: 6\r\n\r\n0\r\n\r\n`],
    ['two lengths', `${POST}Content-Length: 2\r\nContent-Length: 40\r\n\r\n{}`],
    ['the same length twice', `${POST}Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}`],
    ['a list of lengths', `${POST}Content-Length: 2, 2\r\n\r\n{}`],
    ['a signed length', `${POST}Content-Length: +2\r\n\r\n{}`],
    ['a hexadecimal length', `${POST}Content-Length: 0x2\r\n\r\n{}`],
    ['a length beyond all numbers', `${POST}Content-Length: 18446744073709551618\r\n\r\n{}`],
    ['a space before the colon', `${POST}Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n`],
    ['a folded header', `${POST}Transfer-Encoding:\r\n chunked\r\nX-A: a\r\n b\r\n\r\n0\r\n\r\n`],
    ['chunked twice', `${POST}Transfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n`],
    ['chunked, but not last', `${POST}Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n`],
    ['an unknown coding', `${POST}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n`],
    ['a coding before chunked', `${POST}Transfer-Encoding: gzip, chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n`],
    [
      'chunks by HTTP/1.0',
      `POST /echo HTTP/1.0\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    ],
    ['a chunk size with a sign', `${POST}Transfer-Encoding: chunked\r\n\r\n+2\r\n{}\r\n0\r\n\r\n`],
    ['a chunk that ends elsewhere', `${POST}Transfer-Encoding: chunked\r\n\r\n1\r\n{}\r\n0\r\n\r\n`],
    ['lines that end in LF', 'POST /echo HTTP/1.1\nHost: x\nContent-Type: application/json\nContent-Length: 2\n\n{}'],
    ['a CR inside a header', `${POST}X-A: a\rContent-Length: 2\r\n\r\n{}`],
    ['a NUL inside a header', `${POST}X-A: a\u0000\r\nContent-Length: 2\r\n\r\n{}`],
    ['two Hosts', `${POST}Host: evil.example\r\nContent-Length: 2\r\n\r\n{}`],
    ['two Authorizations', `${POST}Authorization: Bearer a\r\nauthorization: Bearer b\r\nContent-Length: 2\r\n\r\n{}`],
    ['two Content-Types', `${POST}content-type: text/plain\r\nContent-Length: 2\r\n\r\n{}`],
  ])('is refused with its connection, and nothing behind it is read: %s', async (_name, text) => {
    expect(await statuses(text + HIDDEN)).toEqual([400]);
    expect(reached).toEqual([]);
  });
});

describe('a field that is said twice and the same', () => {
  it('leaves nothing to choose from', async () => {
    const twice = 'Content-Type: application/json\r\nAuthorization: Bearer a\r\nAuthorization: Bearer a\r\n';
    expect(await statuses(`${POST}${twice}Connection: close\r\nContent-Length: 2\r\n\r\n{}`)).toEqual([200]);
  });
});

describe('a body that looks like a request', () => {
  it('is the body of its own', async () => {
    const body = JSON.stringify(HIDDEN);
    const text = `${POST}Content-Length: ${String(body.length)}\r\n\r\n${body}GET /plain HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`;
    expect(await statuses(text)).toEqual([200, 200]);
    // One waits for its body, the other for nothing.
    expect(reached.sort()).toEqual([`echo ${body}`, 'plain']);
  });

  it.each(['GET /plain', 'GET /none', 'DELETE /none', 'OPTIONS /plain'])(
    'is thrown away where none is taken: %s',
    async (line) => {
      const text = `${line} HTTP/1.1\r\nHost: x\r\nContent-Length: ${String(HIDDEN.length)}\r\n\r\n${HIDDEN}GET /plain HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`;
      expect(await statuses(text)).toHaveLength(2);
      expect(reached).not.toContain('secret');
      expect(reached.at(-1)).toBe('plain');
    },
  );

  it('is not read where the body before it was refused by its type or its coding', async () => {
    for (const header of ['Content-Type: text/plain', 'Content-Type: application/json\r\nContent-Encoding: gzip']) {
      const head = `POST /echo HTTP/1.1\r\nHost: x\r\n${header}\r\nContent-Length: ${String(HIDDEN.length)}\r\n\r\n`;
      const end = 'GET /plain HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n';
      expect(await statuses(head + HIDDEN + end)).toEqual([415, 200]);
    }
    expect(reached).toEqual(['plain', 'plain']);
  });

  it('is not read where trailers follow it: they are no headers', async () => {
    const text = `${POST}Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n2\r\n{}\r\n0\r\nHost: evil.example\r\nX-Request-Id: t\r\n\r\n`;
    const answer = await exchange(server.port, text);
    expect([answer.status, answer.headers['x-request-id'] === 't']).toEqual([200, false]);
  });
});

describe('another protocol or method', () => {
  const ask = (line: string, headers = ''): ReturnType<typeof exchange> =>
    exchange(server.port, `${line} HTTP/1.1\r\nHost: x\r\n${headers}Connection: close\r\n\r\n`);

  it.each(['h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__', 'websocket\r\nSec-WebSocket-Key: a', 'TLS/1.0'])(
    'is not changed to: %s',
    async (upgrade) => {
      const { status, headers } = await ask('GET /plain', `Upgrade: ${upgrade}\r\n`);
      expect([status, headers['upgrade']]).toEqual([200, undefined]);
    },
  );

  it.each(['TRACE', 'PROPFIND', 'PUT', 'PATCH'])('is not taken: %s', async (method) => {
    const { status, body } = await ask(`${method} /plain`, 'Cookie: secret=1\r\n');
    expect([status, body.includes('secret')]).toEqual([405, false]);
  });

  it('is not chosen by a header or a parameter', async () => {
    for (const header of ['X-HTTP-Method-Override', 'X-HTTP-Method', 'X-Method-Override'])
      expect((await ask('GET /secret?_method=DELETE', `${header}: DELETE\r\n`)).status).toBe(405);
    expect(reached).toEqual([]);
  });

  it('is refused where it is not HTTP/1', async () => {
    expect((await exchange(server.port, 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')).status).toBe(505);
    expect((await exchange(server.port, 'GET /plain HTTP/1.0\r\n\r\n')).status).toBe(200);
  });

  it.each(['x'.repeat(129), 'a b', 'a\u001b[31m', '../../a', '<script>', 'é'])(
    'does not get an id of its own choice into logs and answers: %j',
    async (id) => {
      const { status, headers } = await ask('GET /plain', `X-Request-Id: ${id}\r\n`);
      if (status === 200) expect(headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
      else expect(status).toBe(400);
    },
  );

  it('has room for a query up to the limit of the headers', async () => {
    expect((await ask(`GET /plain?${'a=b&'.repeat(3_000)}`)).status).toBe(200);
    expect((await ask(`GET /plain?${'a=b&'.repeat(5_000)}`)).status).toBe(431);
  });
});
