import { afterEach, describe, expect, it } from '@jest/globals';
import type { Registry } from 'prom-client';
import { onRequestOver } from '../../src/http/index.js';
import {
  configureObservability,
  createLogger,
  METRICS_REGISTRY,
  ObservabilityModule,
} from '../../src/observability/index.js';
import type { HttpAppOptions } from '../support/http-app.js';
import { LogLines } from '../support/log-lines.js';
import { eventually } from '../support/eventually.js';
import { OpenWork } from '../support/open-work.js';
import { exchange } from '../support/raw-http.js';

const get = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;

let held: OpenWork;
afterEach(() => held.close());

describe('the outcome of every request', () => {
  it.each(['end', 'destroy', 'resetAndDestroy'] as const)(
    'is one line and nothing in flight when the client of pipelined ones leaves by %s',
    async (leave) => {
      const log = new LogLines();
      held = await OpenWork.start(observed(log));
      const connection = await held.open('/json');
      connection.write(get('/json') + get('/quick') + get('/stream') + get('/none'));
      await eventually(() => held.signals.length === 3);
      expect(await metric('coordinator_http_requests_in_flight')).toBe(5);
      connection.socket[leave]();
      await eventually(() => log.records.length >= 5);
      await new Promise((resolve) => setTimeout(resolve, 20));
      expect(log.records.map(({ route, status }) => `${String(route)} ${String(status)}`).sort()).toEqual([
        '/json 499',
        '/json 499',
        '/quick 499',
        '/stream 499',
        'unmatched 499',
      ]);
      expect(await metric('coordinator_http_requests_in_flight')).toBe(0);
    },
  );

  it.each([
    ['/%zz', 400],
    [`/things/${'x'.repeat(600)}`, 400],
    ['/none', 404],
  ])('is one line and one count, whatever the path: %s', async (path, status) => {
    const log = new LogLines();
    held = await OpenWork.start(observed(log));
    const response = await fetch(held.server.url + path, { headers: { 'x-request-id': 'req-9' } });
    expect([response.status, response.headers.get('x-request-id')]).toEqual([status, 'req-9']);
    await eventually(() => log.records.length >= 1);
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(log.records).toMatchObject([{ request_id: 'req-9', route: 'unmatched', status }]);
    expect(await metric('coordinator_http_requests_total')).toBe(1);
    expect(await metric('coordinator_http_requests_in_flight')).toBe(0);
  });

  it('is the client’s fault where its version of HTTP is none of ours', async () => {
    const log = new LogLines();
    held = await OpenWork.start(observed(log));
    await exchange(held.server.port, 'GET /quick HTTP/2.0\r\nHost: x\r\n\r\n');
    await eventually(() => log.records.length >= 1);
    expect(log.records).toMatchObject([{ level: 'info', route: '/quick', status: 505, code: 'http_version_unknown' }]);
    const registry = held.server.app.get<Registry>(METRICS_REGISTRY);
    expect(await registry.getSingleMetricAsString('coordinator_http_requests_total')).toContain('status="4xx"} 1');
  });

  it('is one line each when all are answered', async () => {
    const log = new LogLines();
    held = await OpenWork.start(observed(log));
    const connection = await held.open('/json');
    connection.write(get('/quick').repeat(20));
    held.finish();
    await eventually(() => log.records.length >= 21);
    connection.destroy();
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(log.records.map(({ status }) => status)).toEqual(Array.from({ length: 21 }, () => 200));
    expect(await metric('coordinator_http_requests_in_flight')).toBe(0);
  });

  async function metric(name: string): Promise<number | undefined> {
    const registry = held.server.app.get<Registry>(METRICS_REGISTRY);
    return (await registry.getSingleMetric(name)?.get())?.values[0]?.value;
  }
});

function observed(log: LogLines): Pick<HttpAppOptions, 'imports' | 'observe'> {
  return {
    imports: [ObservabilityModule.forRoot({ logger: createLogger({ level: 'debug', secrets: [] }, log) })],
    observe: (app) => {
      configureObservability(app, { onOver: onRequestOver });
    },
  };
}
