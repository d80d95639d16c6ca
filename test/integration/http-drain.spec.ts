import { PassThrough } from 'node:stream';
import { afterEach, describe, expect, it } from '@jest/globals';
import { Controller, Get, Post, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { clientSignal, Drain, errorBody, toApiError } from '../../src/http/index.js';
import { startHttpApp, type HttpApp } from '../support/http-app.js';
import { exchange, parseAnswer, RawConnection } from '../support/raw-http.js';

/** What a test holds in its hands of an open request. */
class Work {
  readonly signals: AbortSignal[] = [];
  finish: () => void = () => undefined;
}

let work = new Work();

@Controller()
class WorkController {
  /** Answers when the test says so, or with the reason why it may not go on. */
  @Get('json')
  async json(@Req() request: FastifyRequest, @Res({ passthrough: true }) reply: FastifyReply): Promise<object> {
    const signal = clientSignal(request, reply);
    work.signals.push(signal);
    await new Promise<void>((resolve, reject) => {
      work.finish = resolve;
      signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
    });
    return { finished: true };
  }

  /** Streams until the test says so; an abort ends it with an error frame. */
  @Get('stream')
  stream(@Req() request: FastifyRequest, @Res() reply: FastifyReply): void {
    const signal = clientSignal(request, reply);
    work.signals.push(signal);
    const body = new PassThrough();
    body.write('data: first\n\n');
    work.finish = () => body.end('data: [DONE]\n\n');
    signal.addEventListener('abort', () => body.end(`data: ${JSON.stringify(errorBody(toApiError(signal.reason)))}\n\n`), { once: true });
    void reply.header('content-type', 'text/event-stream').send(body);
  }

  /** Ignores its signal. */
  @Get('stubborn')
  async stubborn(@Req() request: FastifyRequest, @Res({ passthrough: true }) reply: FastifyReply): Promise<object> {
    work.signals.push(clientSignal(request, reply));
    await new Promise<void>((resolve) => (work.finish = resolve));
    return {};
  }

  @Get('quick')
  quick(): object {
    return { quick: true };
  }

  @Post('quick')
  post(): object {
    return { quick: true };
  }

  @Get('health')
  health(): object {
    return { status: 'ok' };
  }
}

let server: HttpApp;
const start = async (options: { drainDelayMs?: number; shutdownGraceMs?: number; flushMs?: number } = {}): Promise<void> => {
  work = new Work();
  const drain = new Drain({ drainDelayMs: 0, shutdownGraceMs: 60_000, flushMs: 60_000, ...options });
  server = await startHttpApp({ controllers: [WorkController], drain });
};
afterEach(async () => {
  work.finish();
  await server.close();
});

const until = async (condition: () => boolean): Promise<void> => {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 5));
};
const open = async (path: string): Promise<RawConnection> => {
  const connection = await RawConnection.open(server.port);
  const before = work.signals.length;
  connection.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`);
  await until(() => work.signals.length > before);
  return connection;
};

describe('Drain', () => {
  it('takes requests while draining, refuses new ones after the delay, and lets the open one finish', async () => {
    await start({ drainDelayMs: 200 });
    const stream = await open('/stream');
    const drained = server.drain.run();

    expect(server.drain.state).toBe('draining');
    const taken = await fetch(`${server.url}/quick`);
    expect([taken.status, taken.headers.get('connection')]).toEqual([200, 'close']);

    await until(() => server.drain.state === 'refusing');
    const refused = await fetch(`${server.url}/quick`);
    expect(refused.status).toBe(503);
    expect(Object.fromEntries(refused.headers)).toMatchObject({ connection: 'close', 'retry-after': '1', 'x-should-retry': 'true' });
    expect(await refused.json()).toMatchObject({ error: { code: 'draining', type: 'overloaded_error' } });
    const probe = await fetch(`${server.url}/health`);
    expect([probe.status, probe.headers.get('connection')]).toEqual([200, 'close']);

    expect(work.signals[0]?.aborted).toBe(false);
    work.finish();
    expect(await drained).toEqual({ aborted: 0 });
    expect(await stream.until(/\[DONE\]/)).toContain('data: first');
    expect(server.drain.state).toBe('drained');
    stream.destroy();
  });

  it('ends what is open after the grace with an error frame, never silently', async () => {
    await start({ shutdownGraceMs: 50 });
    const stream = await open('/stream');
    await stream.until(/first/);
    const json = await open('/json');
    expect(await server.drain.run()).toEqual({ aborted: 2 });
    expect(await stream.until(/0\r\n\r\n$/)).toMatch(/data: \{"error":\{"message":"the server is shutting down.*"code":"draining"\}\}/);
    expect(parseAnswer(await json.closed())).toMatchObject({ status: 503, headers: { connection: 'close' } });
    expect(server.drain.openRequests).toBe(0);
    expect(server.reported).toEqual([]);
    stream.destroy();
  });

  it('waits for a stubborn request no longer than grace and flush', async () => {
    await start({ shutdownGraceMs: 20, flushMs: 20 });
    const stubborn = await open('/stubborn');
    expect(await server.drain.run()).toEqual({ aborted: 1 });
    expect(work.signals[0]?.reason).toMatchObject({ code: 'draining' });
    await server.app.close();
    await stubborn.closed();
  });

  it('refuses before a body is read, and the client still gets the answer', async () => {
    await start();
    await server.drain.run();
    const body = JSON.stringify('x'.repeat(8 * 1024 * 1024));
    const response = await fetch(`${server.url}/quick`, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
    expect(response.status).toBe(503);
    expect(await response.json()).toMatchObject({ error: { code: 'draining' } });
  });

  it('refuses unknown paths too, and is done at once when nothing is open', async () => {
    await start();
    expect(await server.drain.run()).toEqual({ aborted: 0 });
    const answer = await exchange(server.port, 'GET /nothing HTTP/1.1\r\nHost: x\r\n\r\n');
    expect([answer.status, answer.headers['connection']]).toEqual([503, 'close']);
  });

  it('forgets requests whose client left', async () => {
    await start();
    const connection = await open('/stubborn');
    expect(server.drain.openRequests).toBe(1);
    connection.destroy();
    await until(() => server.drain.openRequests === 0);
    expect(await server.drain.run()).toEqual({ aborted: 0 });
  });
});

describe('clientSignal()', () => {
  it.each(['/json', '/stream'])('aborts when the client closes during %s', async (path) => {
    await start();
    const connection = await open(path);
    connection.destroy();
    await until(() => work.signals[0]?.aborted === true);
    expect(work.signals[0]?.reason).toMatchObject({ name: 'ClientGoneError', code: 'client_gone' });
    expect(server.reported).toEqual([]);
  });

  it('aborts when the client only shuts its writing side', async () => {
    await start();
    const connection = await open('/json');
    connection.socket.end();
    await until(() => work.signals[0]?.aborted === true);
  });

  it('aborts a pipelined request that waits behind another', async () => {
    await start();
    const connection = await open('/stubborn');
    connection.write('GET /json HTTP/1.1\r\nHost: x\r\n\r\n');
    await until(() => work.signals.length === 2);
    connection.destroy();
    await until(() => work.signals.every((signal) => signal.aborted));
    expect(server.drain.openRequests).toBe(0);
  });

  it('never aborts after a complete answer', async () => {
    await start();
    const connection = await open('/json');
    work.finish();
    await connection.until(/finished/);
    connection.destroy();
    await until(() => server.drain.openRequests === 0);
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(work.signals[0]?.aborted).toBe(false);
  });

  it('leaves no listener on a connection that is kept alive', async () => {
    await start();
    let listeners: number[] = [];
    server.app.getHttpServer().on('request', (request: FastifyRequest['raw']) => {
      listeners = [...listeners, request.socket.listenerCount('close')];
    });
    const connection = await RawConnection.open(server.port);
    for (let n = 1; n <= 20; n += 1) {
      connection.write('GET /quick HTTP/1.1\r\nHost: x\r\n\r\n');
      await until(() => (connection.received.match(/HTTP\/1\.1 200/g) ?? []).length === n);
    }
    expect(listeners).toHaveLength(20);
    expect(new Set(listeners.slice(1)).size).toBe(1);
    connection.destroy();
  });

  it('stands many pipelined requests without a warning', async () => {
    await start();
    const warnings: Error[] = [];
    const onWarning = (warning: Error): void => void warnings.push(warning);
    process.on('warning', onWarning);
    const connection = await RawConnection.open(server.port);
    connection.write('GET /quick HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(50));
    await until(() => (connection.received.match(/quick":true/g) ?? []).length === 50);
    connection.destroy();
    await new Promise((resolve) => setImmediate(resolve));
    process.off('warning', onWarning);
    expect(warnings).toEqual([]);
  });
});
