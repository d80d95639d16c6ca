import { describe, expect, it } from '@jest/globals';
import { secretsOf, type Settings, type TelemetrySettings } from '../../../src/config/index.js';
import { load } from './sources.js';

const ENDPOINT = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318' };

function telemetryOf(environment: Record<string, string>): TelemetrySettings {
  return load({ environment }).telemetry;
}

function noticesOf({ notices }: Settings): readonly string[] {
  return notices.filter((notice) => notice.startsWith('OTEL_'));
}

describe('Telemetry by the variables of OpenTelemetry', () => {
  it('goes nowhere unless told to', () => {
    expect(telemetryOf({})).toEqual({
      serviceName: 'ai-api-coordinator',
      resource: {},
      sampler: { isParentBased: true, ratio: 1 },
      propagates: true,
    });
  });

  it('goes to the endpoint, each signal under its own path', () => {
    const { traces, metrics } = telemetryOf({ OTEL_EXPORTER_OTLP_ENDPOINT: 'https://c.example/otlp/' });
    const usual = { headers: {}, protocol: 'http/protobuf', timeoutMs: 10_000, isCompressed: false };
    expect(traces).toEqual({ url: 'https://c.example/otlp/v1/traces', ...usual });
    expect(metrics).toEqual({ url: 'https://c.example/otlp/v1/metrics', intervalMs: 60_000, ...usual });
  });

  it('takes the URL of one signal as it is', () => {
    const own = telemetryOf({ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://t:1/here' });
    expect(own.traces?.url).toBe('http://t:1/here');
    expect(own.metrics).toBeUndefined();
    const both = telemetryOf({ ...ENDPOINT, OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: 'http://m:1/there' });
    expect(both.traces?.url).toBe('http://collector:4318/v1/traces');
    expect(both.metrics?.url).toBe('http://m:1/there');
  });

  it.each<[Record<string, string>, boolean, boolean]>([
    [{ ...ENDPOINT, OTEL_SDK_DISABLED: 'true' }, false, false],
    [{ ...ENDPOINT, OTEL_TRACES_EXPORTER: 'none' }, false, true],
    [{ ...ENDPOINT, OTEL_METRICS_EXPORTER: 'none' }, true, false],
    [{ ...ENDPOINT, OTEL_METRICS_EXPORTER: 'prometheus' }, true, false],
    [{ OTEL_TRACES_EXPORTER: 'otlp' }, true, false],
    [{ ...ENDPOINT, OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' }, false, false],
    [{ ...ENDPOINT, OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: 'grpc' }, false, true],
    [
      { ...ENDPOINT, OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc', OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: 'http/json' },
      true,
      false,
    ],
  ])('exports by %j: traces %s, metrics %s', (environment, traces, metrics) => {
    const telemetry = telemetryOf(environment);
    expect([telemetry.traces !== undefined, telemetry.metrics !== undefined]).toEqual([traces, metrics]);
  });

  it('exports to a collector beside it where only the exporter is named', () => {
    expect(telemetryOf({ OTEL_TRACES_EXPORTER: 'otlp' }).traces?.url).toBe('http://localhost:4318/v1/traces');
  });

  it('adds a signal’s headers to those of both, and sends a user in the URL as a header', () => {
    const { traces, metrics } = telemetryOf({
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://us%40er:pa%3Ass@collector:4318',
      OTEL_EXPORTER_OTLP_HEADERS: 'X-Tenant=a%20b, x-both=1',
      OTEL_EXPORTER_OTLP_METRICS_HEADERS: 'x-both=2',
    });
    const authorization = `Basic ${Buffer.from('us@er:pa:ss').toString('base64')}`;
    expect(traces?.headers).toEqual({ authorization, 'x-tenant': 'a b', 'x-both': '1' });
    expect(metrics?.headers).toEqual({ authorization, 'x-tenant': 'a b', 'x-both': '2' });
    expect(traces?.url).toBe('http://collector:4318/v1/traces');
  });

  it('keeps headers, users and queries of collectors out of the log', () => {
    const settings = load({
      environment: {
        OTEL_EXPORTER_OTLP_ENDPOINT: 'http://user:password-1@collector:4318/?token=token-2',
        OTEL_EXPORTER_OTLP_HEADERS: 'x-key=key-3,authorization=Bearer%20bearer-4',
      },
    });
    const secrets = secretsOf(settings);
    for (const secret of ['token-2', 'key-3', 'bearer-4', 'Bearer bearer-4']) expect(secrets).toContain(secret);
  });

  it('reads headers from a file', () => {
    const environment = { ...ENDPOINT, OTEL_EXPORTER_OTLP_HEADERS_FILE: '/run/headers' };
    const { telemetry } = load({ environment, files: { '/run/headers': 'x-key=abc\n' } });
    expect(telemetry.traces?.headers).toEqual({ 'x-key': 'abc' });
  });

  it.each<[Record<string, string>, TelemetrySettings['sampler']]>([
    [{ OTEL_TRACES_SAMPLER: 'always_on' }, { isParentBased: false, ratio: 1 }],
    [{ OTEL_TRACES_SAMPLER: 'always_off' }, { isParentBased: false, ratio: 0 }],
    [{ OTEL_TRACES_SAMPLER: 'parentbased_always_off' }, { isParentBased: true, ratio: 0 }],
    [
      { OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: '0.25' },
      { isParentBased: false, ratio: 0.25 },
    ],
    [{ OTEL_TRACES_SAMPLER: 'parentbased_traceidratio' }, { isParentBased: true, ratio: 1 }],
    [{ OTEL_TRACES_SAMPLER_ARG: '0.25' }, { isParentBased: true, ratio: 1 }],
  ])('samples by %j', (environment, sampler) => {
    expect(telemetryOf(environment).sampler).toEqual(sampler);
  });

  it.each<[Record<string, string>, boolean]>([
    [{ OTEL_PROPAGATORS: 'tracecontext,baggage' }, true],
    [{ OTEL_PROPAGATORS: 'baggage' }, false],
    [{ OTEL_PROPAGATORS: 'none' }, false],
  ])('propagates by %j: %s', (environment, propagates) => {
    expect(telemetryOf(environment).propagates).toBe(propagates);
  });

  it('names the service by its own variable first, then by the attributes', () => {
    const attributes = { OTEL_RESOURCE_ATTRIBUTES: 'service.name=a,k8s.pod.name=p%2C1' };
    expect(telemetryOf(attributes)).toMatchObject({ serviceName: 'a', resource: { 'k8s.pod.name': 'p,1' } });
    expect(telemetryOf({ ...attributes, OTEL_SERVICE_NAME: 'b' }).serviceName).toBe('b');
  });

  it('tells of what it can’t use, without its value, and serves all the same', () => {
    const settings = load({
      environment: {
        ...ENDPOINT,
        OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc',
        OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'SECRET',
        OTEL_EXPORTER_OTLP_HEADERS: 'SECRET',
        OTEL_EXPORTER_OTLP_TIMEOUT: 'SECRET',
        OTEL_EXPORTER_OTLP_COMPRESSION: 'SECRET',
        OTEL_TRACES_EXPORTER: 'SECRET',
        OTEL_TRACES_SAMPLER: 'jaeger_remote',
        OTEL_TRACES_SAMPLER_ARG: '2',
        OTEL_PROPAGATORS: 'b3',
        OTEL_RESOURCE_ATTRIBUTES: 'SECRET',
        OTEL_SDK_DISABLED: 'SECRET',
        OTEL_METRIC_EXPORT_INTERVAL: '0',
      },
    });
    const notices = noticesOf(settings);
    expect(notices.join('\n')).not.toContain('SECRET');
    expect(notices).toContain('OTEL_EXPORTER_OTLP_PROTOCOL must be one of http/protobuf, http/json: it is ignored');
    expect(new Set(notices).size).toBe(notices.length);
    expect(settings.telemetry).toEqual({
      serviceName: 'ai-api-coordinator',
      resource: {},
      sampler: { isParentBased: true, ratio: 1 },
      propagates: true,
    });
  });
});
