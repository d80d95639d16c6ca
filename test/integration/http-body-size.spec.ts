import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Body, Controller, HttpCode, Post } from '@nestjs/common';
import { BodyText, DEFAULT_LIMITS } from '../../src/http/index.js';
import { eventually } from '../support/eventually.js';
import { startHttpApp, type HttpApp } from '../support/http-app.js';
import { parseAnswer, RawConnection } from '../support/raw-http.js';

const LIMIT = 16 * 1024 * 1024;

@Controller()
class EchoController {
  @Post('echo')
  @HttpCode(200)
  echo(@BodyText() text: string, @Body() value: object): object {
    return { length: Buffer.byteLength(text), text: text.length > 1_000 ? undefined : text, keys: Object.keys(value) };
  }
}

/** Answers when it is told to. */
@Controller()
class HoldController {
  static readonly held: (() => void)[] = [];

  @Post('hold')
  @HttpCode(200)
  async hold(): Promise<object> {
    await new Promise<void>((resolve) => HoldController.held.push(resolve));
    return {};
  }

  @Post('pass')
  @HttpCode(200)
  pass(): object {
    return {};
  }

  static letGo(): void {
    for (const resolve of this.held.splice(0)) resolve();
  }
}

let server: HttpApp;
beforeAll(async () => {
  server = await startHttpApp({ controllers: [EchoController], bodyLimitBytes: LIMIT });
});
afterAll(() => server.close());

function post(path: string, body: string): Promise<Response> {
  return fetch(`${server.url}${path}`, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
}

/** A JSON string of so many bytes with its quotes. */
function jsonOf(bytes: number): RequestInit {
  return {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify('x'.repeat(bytes - 2)),
  };
}

function chunked(kilobytes: number): ReadableStream {
  const pieces = ['"', ...Array.from({ length: kilobytes }, () => 'x'.repeat(1_024)), '"'];
  return new ReadableStream({
    pull(controller) {
      const piece = pieces.shift();
      if (piece === undefined) controller.close();
      else controller.enqueue(Buffer.from(piece));
    },
  });
}

async function errorOf(
  response: Response,
): Promise<{ message: string; type: string; param: string | null; code: string }> {
  return ((await response.json()) as { error: { message: string; type: string; param: string | null; code: string } })
    .error;
}

describe('body size', () => {
  it('takes a 9 MB base64 body (gateway row 66)', async () => {
    const text = JSON.stringify({ image: Buffer.alloc(9 * 1024 * 1024, 7).toString('base64') });
    const response = await post('/echo', text);
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({ length: text.length, keys: ['image'] });
  });

  it('takes exactly the limit', async () => {
    const text = JSON.stringify({ a: 'x'.repeat(LIMIT - 8) });
    expect(Buffer.byteLength(text)).toBe(LIMIT);
    expect((await post('/echo', text)).status).toBe(200);
  });

  it('answers 413 in the shape, with the limit, to a client that sends it all (gateway row 66)', async () => {
    const response = await post('/echo', JSON.stringify('x'.repeat(2 * LIMIT)));
    expect(response.status).toBe(413);
    expect(await errorOf(response)).toEqual({
      message: `the request body is too large: the limit is ${String(LIMIT)} bytes`,
      type: 'invalid_request_error',
      param: null,
      code: 'request_too_large',
    });
  });

  it('answers 413 on the declared length alone', async () => {
    const connection = await RawConnection.open(server.port);
    connection.write(
      `POST /echo HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${String(LIMIT + 1)}\r\n\r\n{`,
    );
    const answer = parseAnswer(await connection.until(/request_too_large/));
    expect(answer.status).toBe(413);
    expect(answer.headers).toMatchObject({ connection: 'close' });
    connection.destroy();
  });

  it('reads a refused body to its end, for clients that write first and read then', async () => {
    const length = 3 * LIMIT;
    const connection = await RawConnection.open(server.port);
    await connection.writeAll(
      `POST /echo HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${String(length)}\r\n\r\n${' '.repeat(length)}`,
    );
    expect(parseAnswer(await connection.closed()).status).toBe(413);
    expect(connection.errors).toEqual([]);
  });

  it('answers 413 to a chunked body when it passes the limit', async () => {
    const chunk = Buffer.alloc(1024 * 1024, 0x20);
    let sent = 0;
    const body = new ReadableStream({
      pull(controller) {
        sent += 1;
        if (sent > 20) controller.close();
        else controller.enqueue(chunk);
      },
    });
    const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body, duplex: 'half' };
    const response = await fetch(`${server.url}/echo`, init as RequestInit);
    expect(response.status).toBe(413);
    expect((await errorOf(response)).code).toBe('request_too_large');
  });

  it.each([
    ['of a length that is told', (kilobytes: number) => JSON.stringify('x'.repeat(kilobytes * 1_024))],
    ['in chunks', (kilobytes: number) => chunked(kilobytes)],
  ])(
    'refuses what there is no room for beside the bodies of open requests, and takes it when they are over: %s',
    async (_, body) => {
      const limits = { ...DEFAULT_LIMITS, bodiesBytes: 3 * 1_024 * 1_024 };
      const small = await startHttpApp({ controllers: [HoldController], bodyLimitBytes: 2 * 1_024 * 1_024, limits });
      const send = (kilobytes: number, path = 'hold'): Promise<Response> =>
        fetch(`${small.url}/${path}`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: body(kilobytes),
          duplex: 'half',
        });
      const held = send(1_900);
      await eventually(() => HoldController.held.length === 1);
      const refused = await send(1_900);
      expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1']);
      expect(await errorOf(refused)).toMatchObject({ code: 'overloaded', type: 'overloaded_error' });
      expect((await send(1, 'pass')).status).toBe(200);
      HoldController.letGo();
      expect((await held).status).toBe(200);
      expect((await send(1_900, 'pass')).status).toBe(200);
      await small.close();
    },
  );

  it('takes no room for a client that leaves', async () => {
    const limits = { ...DEFAULT_LIMITS, bodiesBytes: LIMIT };
    const small = await startHttpApp({ controllers: [HoldController], bodyLimitBytes: LIMIT, limits });
    for (let client = 0; client < 3; client += 1) {
      const connection = await RawConnection.open(small.port);
      connection.write(
        `POST /pass HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${String(LIMIT)}\r\n\r\n{`,
      );
      connection.destroy();
    }
    await eventually(async () => (await fetch(`${small.url}/pass`, jsonOf(LIMIT - 2))).status === 200);
    await small.close();
  });

  it.each([
    ['a body of 1 GB', 'Content-Length: 1073741824'],
    ['a body without an end', 'Transfer-Encoding: chunked'],
  ])(
    'closes after an answer that did not wait for %s',
    async (_, framing) => {
      const connection = await RawConnection.open(server.port);
      connection.write(`POST /nowhere HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n${framing}\r\n\r\n`);
      const answer = parseAnswer(await connection.until(/not_found/));
      expect(answer.headers).toMatchObject({ connection: 'close' });
      expect(parseAnswer(await connection.closed()).status).toBe(404);
      // Nothing follows the answer.
      expect(connection.received.match(/HTTP\/1\.1/g)).toHaveLength(1);
    },
    15_000,
  );

  it('keeps a connection whose refused body is small', async () => {
    const connection = await RawConnection.open(server.port);
    const refused =
      'POST /nowhere HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 7\r\n\r\n{"a":1}';
    connection.write(refused);
    await connection.until(/not_found/);
    connection.write(refused);
    await connection.until(/not_found[^]*not_found/);
    connection.destroy();
  });

  it('asks for a body that waits for 100-continue only if it would take it', async () => {
    const head =
      'POST /echo HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nExpect: 100-continue\r\nConnection: close\r\n';
    const small = await RawConnection.open(server.port);
    small.write(`${head}Content-Length: 7\r\n\r\n`);
    expect(await small.until(/\r\n\r\n/)).toMatch(/^HTTP\/1\.1 100 Continue/);
    small.write('{"a":1}');
    expect(await small.closed()).toContain('HTTP/1.1 200 OK');

    const large = await RawConnection.open(server.port);
    large.write(`${head}Content-Length: ${String(LIMIT + 1)}\r\n\r\n`);
    expect(await large.until(/request_too_large/)).toMatch(/^HTTP\/1\.1 413 /);
    large.destroy();
  });

  it('takes a body in chunks, byte by byte', async () => {
    const connection = await RawConnection.open(server.port);
    connection.write(
      'POST /echo HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n',
    );
    for (const byte of Buffer.from('{"é":1}')) {
      connection.socket.write(Buffer.concat([Buffer.from('1\r\n'), Buffer.from([byte]), Buffer.from('\r\n')]));
      await new Promise((resolve) => setImmediate(resolve));
    }
    connection.write('0\r\n\r\n');
    const answer = parseAnswer(await connection.closed());
    expect(answer.status).toBe(200);
    expect(answer.body).toContain('é');
  });
});
