import { describe, expect, it } from '@jest/globals';
import { ATTR_ERROR_TYPE, ATTR_SERVER_ADDRESS, ATTR_SERVER_PORT } from '@opentelemetry/semantic-conventions';
import * as conventions from '@opentelemetry/semantic-conventions/incubating';
import { Registry } from 'prom-client';
import { GenAiMetrics } from '../../../src/observability/gen-ai/gen-ai.metrics.js';
import { conventionOf } from '../../../src/observability/gen-ai/gen-ai.names.js';

const PLACE = { provider: 'anthropic', model: 'claude', address: 'api.example', port: 443 };

describe('GenAiMetrics', () => {
  it('are called over OTLP as the conventions have it, labels too', async () => {
    const registry = new Registry();
    const genAi = new GenAiMetrics(registry);
    genAi.firstChunk(PLACE, 100);
    genAi.ended(PLACE, { durationMs: 1_000, error: 'timeout', tokens: { input: 1, output: 2 } });
    const metrics = await registry.getMetricsAsJSON();
    expect(metrics.map(({ name }) => conventionOf(name))).toEqual([
      { name: nameOf('METRIC_GEN_AI_CLIENT_OPERATION_DURATION'), unit: 's' },
      { name: nameOf('METRIC_GEN_AI_CLIENT_OPERATION_TIME_TO_FIRST_CHUNK'), unit: 's' },
      { name: nameOf('METRIC_GEN_AI_CLIENT_TOKEN_USAGE'), unit: '{token}' },
    ]);
    const labels = new Set(metrics.flatMap(({ values }) => values.flatMap((value) => Object.keys(value.labels))));
    labels.delete('le');
    expect([...labels].map((label) => conventionOf(label).name).sort()).toEqual(
      [
        ATTR_ERROR_TYPE,
        ATTR_SERVER_ADDRESS,
        ATTR_SERVER_PORT,
        nameOf('ATTR_GEN_AI_OPERATION_NAME'),
        nameOf('ATTR_GEN_AI_PROVIDER_NAME'),
        nameOf('ATTR_GEN_AI_REQUEST_MODEL'),
        nameOf('ATTR_GEN_AI_TOKEN_TYPE'),
      ].sort(),
    );
  });

  it('count no tokens that the provider has not counted', async () => {
    const registry = new Registry();
    new GenAiMetrics(registry).ended(PLACE, { durationMs: 1, error: undefined, tokens: undefined });
    const page = await registry.metrics();
    expect(page).not.toContain('gen_ai_client_token_usage_count');
    expect(page).not.toContain('error_type');
    expect(page).toContain('gen_ai_client_operation_duration_seconds_count{');
  });
});

/** The package calls them deprecated since they moved to a repository of their own, which has no package yet; the names hold. */
function nameOf(constant: keyof typeof conventions): unknown {
  return conventions[constant];
}
