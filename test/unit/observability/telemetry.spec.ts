import { describe, expect, it } from '@jest/globals';
import { type ExportResult, ExportResultCode } from '@opentelemetry/core';
import { DataPointType } from '@opentelemetry/sdk-metrics';
import { Counter, Gauge, Histogram, Registry, Summary } from 'prom-client';
import { createLogger, startTelemetry } from '../../../src/observability/index.js';
import { RegistryProducer } from '../../../src/observability/otlp/registry.producer.js';
import { ExportWatch } from '../../../src/observability/otlp/watched.exporter.js';
import { remoteParentOf } from '../../../src/observability/tracing/trace.context.js';
import { LogLines } from '../../support/log-lines.js';

describe('ExportWatch', () => {
  const failed = (error?: Error): ExportResult => ({ code: ExportResultCode.FAILED, ...(error && { error }) });

  it('tells of failures once a minute, and of the first success after them', () => {
    const lines = new LogLines();
    let now = 0;
    const watch = new ExportWatch('traces', createLogger({ level: 'info', secrets: [] }, lines), () => now);
    watch.ended({ code: ExportResultCode.SUCCESS });
    expect(lines.records).toEqual([]);
    for (let at = 0; at < 200; at += 1) {
      now = at * 500;
      watch.ended(failed(Object.assign(new Error('WORDS http://user:pass@host'), { code: 'ECONNREFUSED' })));
    }
    expect(lines.records.map(({ failures, reason }) => [failures, reason])).toEqual([
      [1, 'ECONNREFUSED'],
      [121, 'ECONNREFUSED'],
    ]);
    watch.ended({ code: ExportResultCode.SUCCESS });
    watch.ended({ code: ExportResultCode.SUCCESS });
    expect(lines.records).toHaveLength(3);
    expect(lines.records[2]).toMatchObject({ level: 'info', failures: 200, signal: 'traces' });
    expect(lines.text).not.toContain('WORDS');
  });

  it.each([
    [Object.assign(new Error('x'), { code: 429 }), 'status 429'],
    [new TypeError('x'), 'TypeError'],
    [undefined, 'unknown'],
  ])('gives a reason without words: %s', (error, reason) => {
    const lines = new LogLines();
    new ExportWatch('metrics', createLogger({ level: 'info', secrets: [] }, lines), () => 0).ended(failed(error));
    expect(lines.records[0]).toMatchObject({ level: 'warn', reason });
  });
});

describe('RegistryProducer.collect()', () => {
  it('reads counters, gauges and histograms as they are at that moment', async () => {
    const registry = new Registry();
    const registers = [registry];
    const counter = new Counter({ name: 'c_total', help: 'c', labelNames: ['l'], registers });
    new Gauge({ name: 'g_bytes', help: 'g', registers }).set(-3);
    const histogram = new Histogram({ name: 'h_seconds', help: 'h', labelNames: ['l'], buckets: [1, 2], registers });
    new Summary({ name: 's', help: 's', registers }).observe(1);
    let now = 1_000;
    const producer = new RegistryProducer([registry, new Registry()], { name: 'scope' }, () => now);
    counter.inc({ l: 'a' }, 2);
    for (const value of [0.5, 1.5, 1.6, 9]) histogram.observe({ l: 'b' }, value);
    now = 3_000;
    const { resourceMetrics } = await producer.collect();
    const [{ metrics } = { metrics: [] }] = resourceMetrics.scopeMetrics;
    const span = { startTime: [1, 0], endTime: [3, 0] };
    expect(
      metrics.map(({ descriptor, dataPointType, dataPoints }) => [descriptor, dataPointType, dataPoints]),
    ).toMatchObject([
      [{ name: 'c_total', unit: '' }, DataPointType.SUM, [{ ...span, attributes: { l: 'a' }, value: 2 }]],
      [{ name: 'g_bytes', unit: 'By' }, DataPointType.GAUGE, [{ ...span, attributes: {}, value: -3 }]],
      [
        { name: 'h_seconds', unit: 's' },
        DataPointType.HISTOGRAM,
        [
          {
            ...span,
            attributes: { l: 'b' },
            value: { buckets: { boundaries: [1, 2], counts: [1, 2, 1] }, sum: 12.6, count: 4 },
          },
        ],
      ],
    ]);
  });
});

describe('remoteParentOf()', () => {
  const [traceId, spanId] = ['4bf92f3577b34da6a3ce929d0e0e4736', '00f067aa0ba902b7'];

  it.each([
    [`00-${traceId}-${spanId}-01`, true],
    [`00-${traceId}-${spanId}-00`, false],
    [`00-${traceId}-${spanId}-03`, true],
    [`cc-${traceId}-${spanId}-01`, true],
    [`cc-${traceId}-${spanId}-01-what-comes`, true],
  ])('reads %s', (traceparent, isSampled) => {
    expect(remoteParentOf({ traceparent, tracestate: 'a=1' })).toEqual({ traceId, spanId, isSampled, state: 'a=1' });
  });

  it.each([
    '',
    'x',
    `00-${traceId}-${spanId}`,
    `00-${traceId}-${spanId}-1`,
    `00-${traceId}-${spanId}-01-x`,
    `cc-${traceId}-${spanId}-01x`,
  ])('takes %j for none', (traceparent) => {
    expect(remoteParentOf({ traceparent })).toBeUndefined();
  });
});

describe('startTelemetry()', () => {
  it('is nothing without a collector: no line, no tracer, and nothing to close', async () => {
    const lines = new LogLines();
    const settings = { serviceName: 's', resource: {}, sampler: { isParentBased: true, ratio: 1 }, propagates: true };
    const telemetry = await startTelemetry(settings, {
      logger: createLogger({ level: 'trace', secrets: [] }, lines),
      version: '1',
    });
    telemetry.exportMetrics([new Registry()]);
    await telemetry.close(0);
    expect(telemetry.tracer).toBeUndefined();
    expect(lines.text).toBe('');
  });
});
