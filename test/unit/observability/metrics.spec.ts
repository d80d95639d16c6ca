import { afterEach, describe, expect, it } from '@jest/globals';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { Test } from '@nestjs/testing';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Counter, register, type Registry } from 'prom-client';
import {
  createLogger,
  type MetricsAddress,
  METRICS_REGISTRY,
  ObservabilityModule,
} from '../../../src/observability/index.js';
import { MetricsServer } from '../../../src/observability/metrics.server.js';
import { LogLines } from '../../support/log-lines.js';
import { exchange, type RawAnswer } from '../../support/raw-http.js';

const log = new LogLines();
const logger = createLogger({ level: 'info', secrets: [] }, log);

async function createApp(metricsAddress?: MetricsAddress): Promise<NestFastifyApplication> {
  const options = metricsAddress === undefined ? { logger } : { logger, metricsAddress };
  const testing = await Test.createTestingModule({ imports: [ObservabilityModule.forRoot(options)] }).compile();
  return testing.createNestApplication<NestFastifyApplication>(new FastifyAdapter(), { logger: false });
}

describe('GET /metrics', () => {
  let app: NestFastifyApplication | undefined;
  let occupant: Server | undefined;

  afterEach(async () => {
    await app?.close();
    occupant?.close();
    app = occupant = undefined;
  });

  it("serves the application's and the process's metrics in Prometheus' text format", async () => {
    app = await createApp();
    await app.init();
    new Counter({ name: 'things_total', help: 'h', registers: [app.get<Registry>(METRICS_REGISTRY)] }).inc(3);
    const response = await app.inject({ method: 'GET', url: '/metrics' });
    expect(response.headers['content-type']).toBe('text/plain; version=0.0.4; charset=utf-8');
    for (const name of [
      'things_total 3',
      'process_cpu_seconds_total',
      'nodejs_eventloop_lag_p99_seconds',
      'nodejs_heap_size_used_bytes',
    ]) {
      expect(response.body).toContain(name);
    }
    expect(response.body.endsWith('\n')).toBe(true);
    expect(register.getMetricsAsArray()).toEqual([]);
  });

  it('keeps the registries of two applications apart', async () => {
    app = await createApp();
    const other = await createApp();
    new Counter({ name: 'things_total', help: 'h', registers: [app.get<Registry>(METRICS_REGISTRY)] });
    expect(await other.get<Registry>(METRICS_REGISTRY).metrics()).not.toContain('things_total');
    await other.close();
  });

  it('moves to a port of its own, where nothing else is served, and closes it with the application', async () => {
    app = await createApp({ host: '127.0.0.1', port: 0 });
    await app.init();
    const origin = `http://127.0.0.1:${String(app.get(MetricsServer).port)}`;
    expect((await app.inject({ method: 'GET', url: '/metrics' })).statusCode).toBe(404);

    const response = await fetch(`${origin}/metrics?x=1`);
    expect(response.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
    expect(response.headers.get('x-content-type-options')).toBe('nosniff');
    expect(await response.text()).toContain('coordinator_http_requests_in_flight 0');
    expect((await fetch(`${origin}/v1/models`)).status).toBe(404);
    expect((await fetch(`${origin}/metrics`, { method: 'POST' })).status).toBe(405);

    await app.close();
    app = undefined;
    await expect(fetch(`${origin}/metrics`)).rejects.toThrow('fetch failed');
  });

  it('answers HEAD like GET, without the page', async () => {
    app = await createApp({ host: '127.0.0.1', port: 0 });
    await app.init();
    const url = `http://127.0.0.1:${String(app.get(MetricsServer).port)}/metrics`;
    const response = await fetch(url, { method: 'HEAD' });
    expect([response.status, await response.text()]).toEqual([200, '']);
    expect(response.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
  });

  it('answers only the hosts it may', async () => {
    app = await createApp({ host: '127.0.0.1', port: 0, isHostAllowed: (host) => host === 'localhost' });
    await app.init();
    const { port } = app.get(MetricsServer);
    const ask = (host: string): Promise<RawAnswer> =>
      exchange(port, `GET /metrics HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
    expect((await ask('localhost')).status).toBe(200);
    const refused = await ask('evil.example');
    expect(refused.status).toBe(403);
    expect(refused.body).not.toContain('coordinator');
  });

  it('fails the boot when the port is taken', async () => {
    occupant = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => occupant?.once('listening', resolve));
    app = await createApp({ host: '127.0.0.1', port: (occupant.address() as AddressInfo).port });
    await expect(app.init()).rejects.toThrow('EADDRINUSE');
  });

  it('answers 500 and says why when a collector throws, and stays alive', async () => {
    app = await createApp({ host: '127.0.0.1', port: 0 });
    await app.init();
    const collect = (): never => {
      throw new Error('no figure today');
    };
    new Counter({ name: 'broken_total', help: 'h', registers: [app.get<Registry>(METRICS_REGISTRY)], collect });
    const url = `http://127.0.0.1:${String(app.get(MetricsServer).port)}/metrics`;
    expect((await fetch(url)).status).toBe(500);
    expect((await fetch(url)).status).toBe(500);
    expect(log.records.at(-1)).toMatchObject({ level: 'error', err: { message: 'no figure today' } });
  });
});
