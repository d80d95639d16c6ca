import { afterEach, describe, expect, it } from '@jest/globals';
import { Controller, Get } from '@nestjs/common';
import { Readable } from 'node:stream';
import { type ConnectionLimits, DEFAULT_LIMITS } from '../../src/http/index.js';
import { eventually } from '../support/eventually.js';
import { type HttpApp, startHttpApp } from '../support/http-app.js';
import { exchange, parseAnswer, RawConnection } from '../support/raw-http.js';

const LARGE = 'x'.repeat(16 * 1_024 * 1_024);

let ended = 0;

@Controller()
class SizesController {
  @Get('small')
  small(): object {
    return { small: true };
  }

  @Get('large')
  large(): string {
    return LARGE;
  }

  @Get('stream')
  stream(): Readable {
    return Readable.from(endless(), { objectMode: false });
  }

  @Get('slow')
  async slow(): Promise<object> {
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    return { slow: true };
  }
}

function* endless(): Generator<string> {
  try {
    for (;;) yield LARGE.slice(0, 65_536);
  } finally {
    ended += 1;
  }
}

let server: HttpApp;
async function start(limits: Partial<ConnectionLimits>): Promise<void> {
  server = await startHttpApp({ controllers: [SizesController], limits: { ...DEFAULT_LIMITS, ...limits } });
}
afterEach(() => server.close());

const openSockets = (): Promise<number> =>
  new Promise((resolve, reject) => {
    server.app.getHttpServer().getConnections((error: Error | null, count: number) => {
      if (error === null) resolve(count);
      else reject(error);
    });
  });

/** A client that asks and reads nothing. */
async function askUnread(path: string, times = 1): Promise<RawConnection> {
  const connection = await RawConnection.open(server.port);
  connection.socket.pause();
  connection.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`.repeat(times));
  return connection;
}

describe('a client that reads nothing', () => {
  it.each(['/large', '/stream'])('is cut off once it has taken nothing for a while: %s', async (path) => {
    await start({ stalledMs: 600 });
    const before = ended;
    const connection = await askUnread(path);
    await eventually(async () => (await openSockets()) === 1);
    await eventually(async () => (await openSockets()) === 0);
    if (path === '/stream') await eventually(() => ended === before + 1);
    connection.destroy();
  });

  it.each([
    ['answers to requests that were sent at once', '/large', 10],
    ['thousands of small ones', '/small', 20_000],
  ])('is cut off just the same with %s', async (_name, path, times) => {
    await start({ stalledMs: 600 });
    const connection = await askUnread(path, times);
    await eventually(async () => (await openSockets()) === 1);
    await eventually(async () => (await openSockets()) === 0);
    connection.destroy();
  });

  it('is one that takes a byte now and then, or goes on asking', async () => {
    await start({ stalledMs: 600 });
    const connection = await askUnread('/stream');
    await eventually(async () => (await openSockets()) === 1);
    const sips = setInterval(() => {
      connection.socket.read(1);
      connection.write('GET /small HTTP/1.1\r\nHost: x\r\n\r\n');
    }, 50);
    await eventually(async () => (await openSockets()) === 0);
    clearInterval(sips);
    connection.destroy();
  });

  it('is not one that waits for its answer, nor one that reads slowly', async () => {
    await start({ stalledMs: 1_200 });
    const text = 'GET /slow HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n';
    expect((await exchange(server.port, text)).body).toBe('{"slow":true}');

    const slow = await askUnread('/large');
    for (let round = 0; round < 15; round += 1) {
      await new Promise((resolve) => setTimeout(resolve, 100));
      slow.socket.read(1_024 * 1_024);
    }
    slow.socket.resume();
    await eventually(() => slow.received.length > LARGE.length);
    expect(slow.errors).toEqual([]);
    slow.destroy();
  });
});

describe('a connection', () => {
  it('is given back when it is idle', async () => {
    await start({ keepAliveMs: 100 });
    const connection = await RawConnection.open(server.port);
    connection.write('GET /small HTTP/1.1\r\nHost: x\r\n\r\n');
    expect(parseAnswer(await connection.closed()).body).toBe('{"small":true}');
    expect(connection.errors).toEqual([]);
  });

  it('is closed after its last request, and says so with the answer', async () => {
    await start({ requestsPerConnection: 2 });
    const connection = await RawConnection.open(server.port);
    connection.write('GET /small HTTP/1.1\r\nHost: x\r\n\r\n');
    const first = parseAnswer(await connection.until(/\}$/));
    expect(first.headers['connection']).toBe('keep-alive');
    connection.write('GET /small HTTP/1.1\r\nHost: x\r\n\r\n');
    const text = await connection.closed();
    expect(text.match(/\{"small":true\}/g)).toHaveLength(2);
    expect(text.match(/^connection: close\r$/gim)).toHaveLength(1);
  });

  it('is refused beyond the most that are open at once, and taken again when there is room', async () => {
    await start({ connections: 2 });
    const held = [await RawConnection.open(server.port), await RawConnection.open(server.port)];
    await eventually(async () => (await openSockets()) === 2);
    const refused = await RawConnection.open(server.port);
    expect(await refused.closed()).toBe('');
    for (const each of held) each.destroy();
    await eventually(async () => (await openSockets()) === 0);
    const text = 'GET /small HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n';
    expect((await exchange(server.port, text)).status).toBe(200);
  });
});

describe('header fields', () => {
  it('are all read up to their limit, and refused beyond it', async () => {
    await start({ headerFields: 20 });
    const ask = (count: number) =>
      exchange(server.port, `GET /small HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${'a: b\r\n'.repeat(count)}\r\n`);
    expect((await ask(18)).status).toBe(200);
    const { status, body } = await ask(19);
    expect(status).toBe(431);
    expect(JSON.parse(body)).toMatchObject({ error: { code: 'headers_too_large', type: 'invalid_request_error' } });
  });

  it('are counted before Node would leave some of them out', async () => {
    await start({});
    const text = `GET /small HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${'a:b\r\n'.repeat(2_500)}\r\n`;
    expect((await exchange(server.port, text)).status).toBe(431);
  });
});
