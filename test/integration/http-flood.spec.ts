import { afterEach, describe, expect, it } from '@jest/globals';
import type { Socket } from 'node:net';
import { Body, Controller, Get, HttpCode, Post } from '@nestjs/common';
import { type ConnectionLimits, DEFAULT_LIMITS } from '../../src/http/index.js';
import { eventually } from '../support/eventually.js';
import { type HttpApp, startHttpApp } from '../support/http-app.js';
import { sized } from '../support/proof-scale.js';
import { exchange, RawConnection } from '../support/raw-http.js';

const MANY = sized(3_000, 10_000);

let running = 0;
let most = 0;
let begun = 0;
let letGo: () => void = () => undefined;
let gate: Promise<void> = Promise.resolve();

@Controller()
class WorkController {
  @Post('echo')
  @HttpCode(200)
  async echo(@Body() body: object): Promise<object> {
    running += 1;
    begun += 1;
    most = Math.max(most, running);
    await gate;
    running -= 1;
    return body;
  }

  @Get('quick')
  quick(): object {
    return { quick: true };
  }
}

let server: HttpApp;
/** What the server has read of the connections that came. */
let sockets: Socket[] = [];
const bytesRead = (): number => sockets.reduce((sum, socket) => sum + socket.bytesRead, 0);
async function start(limits: Partial<ConnectionLimits> = {}): Promise<void> {
  [running, most, begun] = [0, 0, 0];
  gate = Promise.resolve();
  server = await startHttpApp({ controllers: [WorkController], limits: { ...DEFAULT_LIMITS, ...limits } });
  sockets = [];
  const http = server.app.getHttpServer();
  http.on('connection', (socket: Socket) => sockets.push(socket));
}
afterEach(async () => {
  letGo();
  await server.close();
});

function holdWork(): void {
  gate = new Promise((resolve) => (letGo = resolve));
}

const echo = (n: number, more = '', padding = ''): string => {
  const body = `{"n":${String(n)}${padding}}`;
  const head = `POST /echo HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n${more}`;
  return `${head}Content-Length: ${String(body.length)}\r\n\r\n${body}`;
};
const flood = (count: number, padding = ''): string =>
  Array.from({ length: count }, (_, n) => echo(n, n === count - 1 ? 'Connection: close\r\n' : '', padding)).join('');
const answers = (text: string): number[] => [...text.matchAll(/\{"n":(\d+)/g)].map(([, n]) => Number(n));
const upTo = (count: number): number[] => Array.from({ length: count }, (_, n) => n);

describe('thousands of requests that are sent at once on one connection', () => {
  it('are all answered, in their order, and so many at a time', async () => {
    await start();
    const connection = await RawConnection.open(server.port);
    connection.write(flood(MANY));
    expect(answers(await connection.closed())).toEqual(upTo(MANY));
    expect(begun).toBe(MANY);
    expect(most).toBeLessThanOrEqual(DEFAULT_LIMITS.pipelined);
    expect(server.reported).toEqual([]);
  });

  it.each([
    ['short bodies', MANY, ''],
    ['long ones, in the middle of which a piece ends', 300, `,"more":"${'x'.repeat(2_000)}"`],
  ])('are left unread while those before are worked on, without a limit of time: with %s', async (...given) => {
    const [, count, padding] = given;
    await start({ headersMs: 100, requestMs: 400, checkEveryMs: 50, pipelined: 4, pipelineQueue: 8 });
    holdWork();
    const connection = await RawConnection.open(server.port);
    const text = flood(count, padding);
    connection.write(text);
    await eventually(() => begun === 4);
    // Long enough for the headers that nobody reads to be late.
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect([begun, connection.received]).toEqual([4, '']);
    // Node reads pieces of 64 kB.
    expect(bytesRead()).toBeGreaterThan(0);
    expect(bytesRead()).toBeLessThanOrEqual(2 * 65_536);
    expect(text.length).toBeGreaterThan(4 * 65_536);
    letGo();
    gate = Promise.resolve();
    expect(answers(await connection.closed())).toEqual(upTo(count));
  });

  it('keep nobody else waiting', async () => {
    await start();
    holdWork();
    const connection = await RawConnection.open(server.port);
    connection.write(flood(MANY));
    await eventually(() => begun === DEFAULT_LIMITS.pipelined);
    const quick = 'GET /quick HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n';
    expect((await exchange(server.port, quick)).body).toBe('{"quick":true}');
    letGo();
    gate = Promise.resolve();
    let others = 0;
    const flooded = connection.closed();
    while (answers(connection.received).length < MANY && !connection.socket.destroyed) {
      expect((await exchange(server.port, quick)).body).toBe('{"quick":true}');
      others += 1;
    }
    expect(answers(await flooded)).toEqual(upTo(MANY));
    expect(others).toBeGreaterThan(1);
  });

  it('end their connection where too many wait on all of them, and are forgotten with it', async () => {
    await start({ pipelined: 1, waiting: 50 });
    holdWork();
    for (let round = 0; round < 3; round += 1) {
      const modest = await RawConnection.open(server.port);
      modest.write(Array.from({ length: 20 }, (_, n) => echo(n)).join(''));
      await eventually(() => server.drain.openRequests === 1);
      const greedy = await RawConnection.open(server.port);
      greedy.write(flood(100));
      expect(await greedy.closed()).toBe('');
      expect(modest.socket.destroyed).toBe(false);
      modest.destroy();
      await eventually(() => server.drain.openRequests === 0);
    }
  });

  it('are not begun any more once their client has left', async () => {
    await start({ pipelined: 4 });
    holdWork();
    const connection = await RawConnection.open(server.port);
    connection.write(Array.from({ length: 100 }, (_, n) => echo(n)).join(''));
    await eventually(() => begun === 4);
    connection.destroy();
    await eventually(() => server.drain.openRequests === 0);
    letGo();
    gate = Promise.resolve();
    await eventually(() => running === 0);
    expect(begun).toBe(4);
  });

  it('are not begun any more once the server goes down, and do not hold it up', async () => {
    await start({ pipelined: 2 });
    holdWork();
    const connection = await RawConnection.open(server.port);
    connection.write(Array.from({ length: 100 }, (_, n) => echo(n)).join(''));
    await eventually(() => begun === 2);
    expect(await server.drain.run()).toEqual({ aborted: 2 });
    letGo();
    gate = Promise.resolve();
    const text = await connection.closed();
    expect(text.match(/^HTTP\/1\.1 \d+/gm)).toEqual(['HTTP/1.1 200']);
    expect(text).toMatch(/^connection: close\r$/im);
    expect(begun).toBe(2);
  });

  it('may end with one whose body comes slowly', async () => {
    await start({ pipelined: 2, pipelineQueue: 3 });
    holdWork();
    const connection = await RawConnection.open(server.port);
    const last = echo(40, 'Connection: close\r\n');
    connection.write(Array.from({ length: 40 }, (_, n) => echo(n)).join('') + last.slice(0, -5));
    await eventually(() => begun === 2);
    letGo();
    gate = Promise.resolve();
    await eventually(() => answers(connection.received).length === 40);
    connection.write(last.slice(-5));
    expect(answers(await connection.closed())).toEqual(upTo(41));
  });
});
