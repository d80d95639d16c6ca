import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Controller, Get, HttpException, Module, Param, Post, Req, Res } from '@nestjs/common';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { Test } from '@nestjs/testing';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { once } from 'node:events';
import { type AddressInfo, connect } from 'node:net';
import type { Registry } from 'prom-client';
import {
  addOutcome,
  configureObservability,
  createLogger,
  METRICS_REGISTRY,
  ObservabilityModule,
} from '../../../src/observability/index.js';
import { LogLines } from '../../support/log-lines.js';

@Controller()
class RoutesController {
  @Get('things/:id')
  read(@Param('id') id: string, @Req() request: FastifyRequest): { id: string } {
    addOutcome(request, { model: 'gpt-4.1', attempts: 1 });
    addOutcome(request, { attempts: 2, status: 1 });
    return { id };
  }

  @Post('busy')
  busy(): never {
    throw new HttpException({ error: { message: 'm', type: 't', param: null, code: 'lock_busy' } }, 409);
  }

  @Get('broken')
  broken(): never {
    throw new Error('boom');
  }

  @Get('health')
  health(): string {
    return 'ok';
  }

  @Get('hang')
  hang(@Res() reply: FastifyReply): void {
    reply.raw.write('first');
  }

  @Get('silent')
  silent(): Promise<never> {
    return new Promise(() => undefined);
  }
}

describe('configureObservability()', () => {
  const log = new LogLines();
  let app: NestFastifyApplication;
  let port: number;

  @Module({
    imports: [ObservabilityModule.forRoot({ logger: createLogger({ level: 'debug', secrets: [] }, log) })],
    controllers: [RoutesController],
  })
  class AppModule {}

  beforeAll(async () => {
    const testing = await Test.createTestingModule({ imports: [AppModule] }).compile();
    app = testing.createNestApplication<NestFastifyApplication>(new FastifyAdapter(), { logger: false });
    configureObservability(app, {
      onOver: (_request, reply, listener) => {
        reply.raw.once('close', listener);
      },
    });
    await app.listen(0, '127.0.0.1');
    port = (app.getHttpServer().address() as AddressInfo).port;
  });
  afterAll(() => app.close());
  beforeEach(() => {
    log.text = '';
  });

  const send = (path: string, init?: RequestInit): Promise<Response> =>
    fetch(`http://127.0.0.1:${String(port)}${path}`, init);

  /** The lines of this test, once there are `count` of them: a line is written after its response has arrived. */
  async function lines(count: number): Promise<Record<string, unknown>[]> {
    while (log.records.length < count) await new Promise((resolve) => setTimeout(resolve, 5));
    return log.records;
  }

  /** Sends a request and breaks the connection when the server is at it. */
  async function leave(path: string, isAtIt: (socket: ReturnType<typeof connect>) => Promise<unknown>): Promise<void> {
    const socket = connect(port, '127.0.0.1');
    socket.write(`GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`);
    await isAtIt(socket);
    socket.destroy();
  }

  it('writes one line with the route template, never the path, and what others added', async () => {
    await (await send('/things/secret-name?q=1')).text();
    const [line] = await lines(1);
    expect(line).toEqual({
      level: 'info',
      time: expect.any(String),
      msg: 'request',
      request_id: expect.any(String),
      method: 'GET',
      route: '/things/:id',
      status: 200,
      duration_ms: expect.any(Number),
      model: 'gpt-4.1',
      attempts: 2,
    });
    expect(log.text).not.toContain('secret-name');
  });

  it('writes the code that the caller was told', async () => {
    await (await send('/busy', { method: 'POST' })).text();
    expect(await lines(1)).toMatchObject([{ level: 'info', route: '/busy', status: 409, code: 'lock_busy' }]);
  });

  it('writes server errors at level error', async () => {
    await (await send('/broken')).text();
    expect(await lines(1)).toMatchObject([{ level: 'error', status: 500 }]);
  });

  it('names no path that fits no route', async () => {
    await (await send('/no/such/route')).text();
    expect(await lines(1)).toMatchObject([{ route: 'unmatched', status: 404 }]);
  });

  it('writes what machines poll at level debug', async () => {
    await (await send('/health')).text();
    await (await send('/metrics')).text();
    expect((await lines(2)).map(({ level }) => level)).toEqual(['debug', 'debug']);
  });

  it('writes 499 for a client that left in the middle of the answer', async () => {
    await leave('/hang', (socket) => once(socket, 'data'));
    expect(await lines(1)).toMatchObject([{ route: '/hang', status: 499 }]);
  });

  it('writes 499 for a client that left before the first byte', async () => {
    const inFlight = app.get<Registry>(METRICS_REGISTRY).getSingleMetric('coordinator_http_requests_in_flight');
    await leave('/silent', async () => {
      while ((await inFlight?.get())?.values[0]?.value !== 1) await new Promise((resolve) => setTimeout(resolve, 5));
    });
    expect(await lines(1)).toMatchObject([{ route: '/silent', status: 499 }]);
  });

  it('counts requests by route template and status class and has none in flight at the end', async () => {
    for (const id of ['1', '2', '3']) await (await send(`/things/${id}`)).text();
    await lines(3);
    const text = await app.get<Registry>(METRICS_REGISTRY).metrics();
    expect(text).toMatch(/coordinator_http_requests_total\{method="GET",route="\/things\/:id",status="2xx"\} \d+/);
    expect(text).toMatch(
      /coordinator_http_request_duration_seconds_bucket\{le="\+Inf",method="POST",route="\/busy",status="4xx"\} 1/,
    );
    expect(text).toContain('coordinator_http_requests_in_flight 0');
    expect(text).not.toContain('/things/1');
  });

  it('keeps the labels bounded, whatever methods and paths are tried', async () => {
    for (let index = 0; index < 20; index += 1) await (await send(`/probe/${String(index)}`)).text();
    await (await send('/probe', { method: 'PROPFIND' })).text();
    await lines(21);
    const text = await app.get<Registry>(METRICS_REGISTRY).metrics();
    const probes = text.split('\n').filter((line) => /^coordinator_http_requests_total.*unmatched/.test(line));
    expect(probes.map((line) => line.split(' ')[0]).sort()).toEqual([
      'coordinator_http_requests_total{method="GET",route="unmatched",status="4xx"}',
      'coordinator_http_requests_total{method="other",route="unmatched",status="4xx"}',
    ]);
  });

  it('counts the connections that were refused', async () => {
    const server = app.getHttpServer();
    server.maxConnections = 1;
    const held = connect(port, '127.0.0.1');
    await once(held, 'connect');
    const refused = connect(port, '127.0.0.1').resume();
    await once(refused, 'close');
    held.destroy();
    const metrics = await app.get<Registry>(METRICS_REGISTRY).metrics();
    expect(metrics).toMatch(/^coordinator_connections_refused_total [1-9]/m);
  });
});
