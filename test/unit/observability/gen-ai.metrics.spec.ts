import { describe, expect, it } from '@jest/globals';
import { ATTR_ERROR_TYPE, ATTR_SERVER_ADDRESS, ATTR_SERVER_PORT } from '@opentelemetry/semantic-conventions';
import {
  ATTR_GEN_AI_OPERATION_NAME,
  ATTR_GEN_AI_PROVIDER_NAME,
  ATTR_GEN_AI_REQUEST_MODEL,
  ATTR_GEN_AI_TOKEN_TYPE,
  METRIC_GEN_AI_CLIENT_OPERATION_DURATION,
  METRIC_GEN_AI_CLIENT_OPERATION_TIME_TO_FIRST_CHUNK,
  METRIC_GEN_AI_CLIENT_TOKEN_USAGE,
} from '@opentelemetry/semantic-conventions/incubating';
import { Histogram, Registry } from 'prom-client';
import { GenAiMetrics } from '../../../src/observability/gen-ai/gen-ai.metrics.js';
import { conventionOf } from '../../../src/observability/gen-ai/gen-ai.names.js';
import { SeriesHistogram } from '../../../src/observability/gen-ai/series.histogram.js';

const PLACE = { provider: 'anthropic', model: 'claude', address: 'api.example', port: 443 };

describe('GenAiMetrics', () => {
  it('are called over OTLP as the conventions have it, labels too', async () => {
    const registry = new Registry();
    const series = new GenAiMetrics(registry).at(PLACE);
    series.firstChunk(100);
    series.ended({ durationMs: 1_000, error: 'timeout', tokens: { input: 1, output: 2 } });
    const metrics = await registry.getMetricsAsJSON();
    expect(metrics.map(({ name }) => conventionOf(name))).toEqual([
      { name: METRIC_GEN_AI_CLIENT_OPERATION_DURATION, unit: 's' },
      { name: METRIC_GEN_AI_CLIENT_OPERATION_TIME_TO_FIRST_CHUNK, unit: 's' },
      { name: METRIC_GEN_AI_CLIENT_TOKEN_USAGE, unit: '{token}' },
    ]);
    const labels = new Set(metrics.flatMap(({ values }) => values.flatMap((value) => Object.keys(value.labels))));
    labels.delete('le');
    expect([...labels].map((label) => conventionOf(label).name).sort()).toEqual(
      [
        ATTR_ERROR_TYPE,
        ATTR_SERVER_ADDRESS,
        ATTR_SERVER_PORT,
        ATTR_GEN_AI_OPERATION_NAME,
        ATTR_GEN_AI_PROVIDER_NAME,
        ATTR_GEN_AI_REQUEST_MODEL,
        ATTR_GEN_AI_TOKEN_TYPE,
      ].sort(),
    );
  });

  it('count no tokens that the provider has not counted', async () => {
    const registry = new Registry();
    new GenAiMetrics(registry).at(PLACE).ended({ durationMs: 1, error: undefined, tokens: undefined });
    const page = await registry.metrics();
    expect(page).not.toContain('gen_ai_client_token_usage_count');
    expect(page).not.toContain('error_type');
    expect(page).toContain('gen_ai_client_operation_duration_seconds_count{');
  });
});

describe('SeriesHistogram', () => {
  it('shows what prom-client’s own would', async () => {
    const [one, other] = [new Registry(), new Registry()];
    const config = { name: 'h', help: 'help', labelNames: ['a', 'b'] as const, buckets: [0.1, 1, 10] };
    const ours = new SeriesHistogram({ ...config, registers: [one] });
    const theirs = new Histogram({ ...config, registers: [other] });
    for (const labels of [{ a: 'x', b: 'y' }, { a: 'z' }]) {
      const series = ours.series(labels);
      for (const value of [0.05, 0.1, 0.5, 1.5, 10, 11, 1e9]) {
        series.observe(value);
        theirs.observe(labels, value);
      }
    }
    expect(await one.metrics()).toBe(await other.metrics());
    expect(await other.getMetricsAsJSON()).toMatchObject(await one.getMetricsAsJSON());
  });

  it('leaves out what is no number, and shows a series that has nothing not at all', async () => {
    const registry = new Registry();
    const histogram = new SeriesHistogram({
      name: 'h',
      help: 'help',
      labelNames: ['a'],
      buckets: [1],
      registers: [registry],
    });
    histogram.series({ a: 'unused' });
    const series = histogram.series({ a: 'used' });
    series.observe(Number.NaN);
    series.observe(Number.POSITIVE_INFINITY);
    expect(await registry.metrics()).not.toContain('{');
    series.observe(2);
    expect(await registry.metrics()).toContain('h_bucket{le="1",a="used"} 0');
  });
});
