import { afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { loadSettings, type TelemetrySettings } from '../../src/config/index.js';
import { createLogger, startTelemetry } from '../../src/observability/index.js';
import { messages, postCompletion, readAnswer } from '../support/completion-rig.js';
import { eventually } from '../support/eventually.js';
import { LogLines } from '../support/log-lines.js';
import { type CollectorMood, OtlpCollector } from '../support/otlp-collector.js';
import { FRONTEND, spanNamed, TraceRig, TRACEPARENT } from '../support/trace-rig.js';

const question = { model: 'test-model', messages };
const FROM_FRONTEND = { traceparent: TRACEPARENT, tracestate: 'vendor=abc' };

/** Read by the SDK itself. */
beforeAll(() => {
  process.env['OTEL_BSP_SCHEDULE_DELAY'] = '20';
});

describe('What is exported', () => {
  let rig: TraceRig;

  afterEach(() => rig.close());

  it.each([
    ['http/protobuf', 'application/x-protobuf'],
    ['http/json', 'application/json'],
  ])('goes by %s, with the headers and the resource of the variables', async (protocol, type) => {
    rig = await TraceRig.start({
      environment: {
        OTEL_EXPORTER_OTLP_PROTOCOL: protocol,
        OTEL_EXPORTER_OTLP_HEADERS: 'x-tenant=a%20b',
        OTEL_EXPORTER_OTLP_TRACES_HEADERS: 'authorization=Basic%20Y29sbGVjdG9y',
        OTEL_EXPORTER_OTLP_COMPRESSION: 'gzip',
        OTEL_SERVICE_NAME: 'edge',
        OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=prod,service.name=other',
      },
    });
    await readAnswer(await postCompletion(rig.url, question, FROM_FRONTEND));
    const spans = await rig.flushed();
    expect(spanNamed(spans, 'chat upstream-1').resource).toMatchObject({
      'service.name': 'edge',
      'service.version': 'test',
      'deployment.environment.name': 'prod',
    });
    const [traces] = rig.collector.delivered.filter(({ path }) => path === '/v1/traces');
    const [metrics] = rig.collector.delivered.filter(({ path }) => path === '/v1/metrics');
    expect(traces?.headers).toMatchObject({
      'content-type': type,
      'content-encoding': 'gzip',
      'x-tenant': 'a b',
      authorization: 'Basic Y29sbGVjdG9y',
    });
    expect(metrics?.headers).toMatchObject({ 'content-type': type, 'x-tenant': 'a b' });
    expect(metrics?.headers.authorization).toBeUndefined();
    expect(rig.collector.metrics.has('gen_ai.client.operation.duration')).toBe(true);
  });

  it('has every metric of /metrics, with the same numbers, those for models under the names of the conventions', async () => {
    rig = await TraceRig.start();
    await readAnswer(await postCompletion(rig.url, question));
    const page = await (await fetch(`${rig.url}/metrics`)).text();
    await rig.flushed();
    const { metrics } = rig.collector;
    const shown = [...page.matchAll(/^# TYPE (\S+) (\S+)$/gm)].filter(([, , kind]) => kind !== 'summary');
    const names = shown.map(([, name = '']) => NAMES[name] ?? name);
    expect(names.filter((name) => !metrics.has(name))).toEqual([]);
    const place = {
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'p1',
      'gen_ai.request.model': 'upstream-1',
      'server.address': '127.0.0.1',
      'server.port': new URL(rig.upstreams[0].url).port,
    };
    const tokens = metrics.get('gen_ai.client.token.usage');
    expect(tokens).toMatchObject({ unit: '{token}', kind: 'histogram' });
    expect(tokens?.points.map(({ attributes, count, sum }) => ({ attributes, count, sum }))).toEqual([
      { attributes: { ...place, 'gen_ai.token.type': 'input' }, count: 1, sum: 10 },
      { attributes: { ...place, 'gen_ai.token.type': 'output' }, count: 1, sum: 2 },
    ]);
    expect(tokens?.points[0]?.bounds).toEqual(Array.from({ length: 14 }, (_, power) => 4 ** power));
    expect(tokens?.points[0]?.counts).toEqual([0, 0, 1, ...Array<number>(12).fill(0)]);
    expect(metrics.get('gen_ai.client.operation.duration')).toMatchObject({
      unit: 's',
      points: [{ attributes: place, count: 1 }],
    });
    expect(metrics.get('coordinator_completions_total')).toMatchObject({
      kind: 'sum',
      points: [{ attributes: { model: 'test-model', provider: 'p1', outcome: 'ok' }, value: 1 }],
    });
    expect(page).toContain(
      `gen_ai_client_token_usage_sum{gen_ai_operation_name="chat",gen_ai_provider_name="p1",gen_ai_request_model="upstream-1",server_address="127.0.0.1",server_port="${place['server.port']}",gen_ai_token_type="output"} 2`,
    );
  });

  it.each<[string, Record<string, string>]>([
    ['the SDK is disabled', { OTEL_SDK_DISABLED: 'true' }],
    ['no exporter is wanted', { OTEL_TRACES_EXPORTER: 'none', OTEL_METRICS_EXPORTER: 'none' }],
    ['another protocol is asked for', { OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' }],
    ['there is no collector', { OTEL_EXPORTER_OTLP_ENDPOINT: '' }],
  ])('is nothing where %s; the caller’s trace is still passed on and logged', async (_, environment) => {
    rig = await TraceRig.start({ environment });
    await readAnswer(await postCompletion(rig.url, question, FROM_FRONTEND));
    await rig.flushed();
    expect(rig.collector.delivered).toEqual([]);
    expect(rig.upstreams[0].requests[0]?.headers).toMatchObject(FROM_FRONTEND);
    const [line] = linesOf(rig, '"msg":"request"');
    expect(line).toContain(`"trace_id":"${FRONTEND.traceId}","span_id":"${FRONTEND.spanId}"`);
  });

  it('is not what the sampler leaves out, and the provider is told so', async () => {
    rig = await TraceRig.start({ environment: { OTEL_TRACES_SAMPLER: 'always_off' } });
    await readAnswer(await postCompletion(rig.url, question, FROM_FRONTEND));
    expect(await rig.flushed()).toEqual([]);
    expect(rig.upstreams[0].requests[0]?.headers['traceparent']).toMatch(/-00$/);
  });

  it('neither follows the caller’s trace nor tells the provider of ours without a propagator', async () => {
    rig = await TraceRig.start({ environment: { OTEL_PROPAGATORS: 'none' } });
    await readAnswer(await postCompletion(rig.url, question, FROM_FRONTEND));
    const spans = await rig.flushed();
    expect(spanNamed(spans, 'POST /v1/chat/completions')).toMatchObject({ parentSpanId: '' });
    expect(spans.map(({ traceId }) => traceId)).not.toContain(FRONTEND.traceId);
    expect(rig.upstreams[0].requests[0]?.headers).not.toHaveProperty('traceparent');
    expect(rig.upstreams[0].requests[0]?.headers).not.toHaveProperty('tracestate');
  });
});

describe('A collector that fails', () => {
  it.each<[string, CollectorMood]>([
    ['refuses everything', 500],
    ['never answers', 'silent'],
  ])('that %s costs no call, and a line for each signal', async (_, mood) => {
    const rig = await TraceRig.start({
      environment: { OTEL_EXPORTER_OTLP_TIMEOUT: '100', OTEL_METRIC_EXPORT_INTERVAL: '100' },
    });
    try {
      rig.collector.mood = mood;
      rig.collector.words = 'WORDS of the collector';
      for (let call = 0; call < 30; call += 1) {
        expect((await readAnswer(await postCompletion(rig.url, question))).status).toBe(200);
      }
      await eventually(() => linesOf(rig, 'could not be exported').length === 2);
      const page = await (await fetch(`${rig.url}/metrics`)).text();
      expect(page).toContain('coordinator_http_requests_in_flight 1');
      await rig.flushed();
      const lines = linesOf(rig, 'could not be exported');
      expect(lines.map((line) => /"signal":"(\w+)"/.exec(line)?.[1]).sort()).toEqual(['metrics', 'traces']);
      expect(rig.coordinator.logs()).not.toContain('WORDS');
    } finally {
      await rig.close();
    }
  });

  it('that is not there costs no call either, nor the end of the process more than its part', async () => {
    const gone = await OtlpCollector.start();
    const { url } = gone;
    await gone.close();
    const rig = await TraceRig.start({
      environment: { OTEL_EXPORTER_OTLP_ENDPOINT: url, OTEL_EXPORTER_OTLP_TIMEOUT: '100' },
    });
    try {
      expect((await readAnswer(await postCompletion(rig.url, question))).status).toBe(200);
      await rig.flushed();
      expect(linesOf(rig, '"reason":"ECONNREFUSED"').length).toBeGreaterThan(0);
    } finally {
      await rig.close();
    }
  });

  it('that is slow is kept a bounded number of spans for, and is told of its return', async () => {
    const collector = await OtlpCollector.start();
    try {
      collector.mood = 'silent';
      const lines = new LogLines();
      const telemetry = await startTelemetry(settingsFor(collector, 200), {
        logger: createLogger({ level: 'info', secrets: [] }, lines),
        version: 'test',
      });
      for (let at = 0; at < 20_000; at += 1) telemetry.tracer?.begin('step', undefined, {}).end();
      await eventually(() => lines.text.includes('could not be exported'));
      collector.mood = 'well';
      await eventually(() => lines.text.includes('exported again'));
      await telemetry.close(5_000);
      expect(collector.spans.length).toBeGreaterThan(0);
      expect(collector.spans.length).toBeLessThanOrEqual(2_048);
    } finally {
      await collector.close();
    }
  });

  it('that hangs at the end is left after its time', async () => {
    const collector = await OtlpCollector.start();
    try {
      collector.mood = 'silent';
      const lines = new LogLines();
      const telemetry = await startTelemetry(settingsFor(collector, 900), {
        logger: createLogger({ level: 'info', secrets: [] }, lines),
        version: 'test',
      });
      telemetry.tracer?.begin('step', undefined, {}).end();
      await telemetry.close(50);
      expect(lines.text).toContain('the collector did not take the last traces and metrics in time');
    } finally {
      await collector.close();
      // The exporter sees its connection end, and has no time left to try again.
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  });
});

const NAMES: Readonly<Record<string, string>> = {
  gen_ai_client_operation_duration_seconds: 'gen_ai.client.operation.duration',
  gen_ai_client_operation_time_to_first_chunk_seconds: 'gen_ai.client.operation.time_to_first_chunk',
  gen_ai_client_token_usage: 'gen_ai.client.token.usage',
};

function linesOf({ coordinator }: TraceRig, part: string): string[] {
  return coordinator
    .logs()
    .split('\n')
    .filter((line) => line.includes(part));
}

function settingsFor({ url }: OtlpCollector, timeoutMs: number): TelemetrySettings {
  const { telemetry } = loadSettings({
    environment: { OTEL_EXPORTER_OTLP_ENDPOINT: url, OTEL_EXPORTER_OTLP_TIMEOUT: String(timeoutMs) },
    readFile: (path) => readFileSync(path, 'utf8'),
    now: Date.now(),
  });
  return telemetry;
}
