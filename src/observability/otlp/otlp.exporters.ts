import { OTLPMetricExporter as JsonMetricExporter } from '@opentelemetry/exporter-metrics-otlp-http';
import { OTLPMetricExporter as ProtobufMetricExporter } from '@opentelemetry/exporter-metrics-otlp-proto';
import { OTLPTraceExporter as JsonTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { OTLPTraceExporter as ProtobufTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { AggregationTemporality, type PushMetricExporter } from '@opentelemetry/sdk-metrics';
import type { SpanExporter } from '@opentelemetry/sdk-trace-base';
import { CompressionAlgorithm } from '@opentelemetry/otlp-exporter-base';
import type { OtlpSettings } from '../../config/index.js';

/** Batches under way at one time; each is bounded, and so is the memory that a slow collector costs. */
const MOST_UNDER_WAY = 4;

export function spanExporterTo(settings: OtlpSettings): SpanExporter {
  const config = configOf(settings);
  return settings.protocol === 'http/json' ? new JsonTraceExporter(config) : new ProtobufTraceExporter(config);
}

export function metricExporterTo(settings: OtlpSettings): PushMetricExporter {
  const config = { ...configOf(settings), temporalityPreference: AggregationTemporality.CUMULATIVE };
  return settings.protocol === 'http/json' ? new JsonMetricExporter(config) : new ProtobufMetricExporter(config);
}

function configOf({ url, headers, timeoutMs, isCompressed }: OtlpSettings) {
  return {
    url,
    headers: { ...headers },
    timeoutMillis: timeoutMs,
    concurrencyLimit: MOST_UNDER_WAY,
    compression: isCompressed ? CompressionAlgorithm.GZIP : CompressionAlgorithm.NONE,
  };
}
