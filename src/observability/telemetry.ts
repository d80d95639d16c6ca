import type { Registry } from 'prom-client';
import type { TelemetrySettings } from '../config/index.js';
import type { Logger } from './logger.js';
import type { Tracer } from './tracing/trace.span.js';

export interface TelemetryHost {
  readonly logger: Logger;
  /** Of the service. */
  readonly version: string;
}

/** What is exported of traces and metrics. */
export interface Telemetry {
  /** Undefined: nothing is traced. */
  readonly tracer: Tracer | undefined;
  /** Sends what these hold from now on, every now and then. */
  exportMetrics(registries: readonly Registry[]): void;
  /** Sends what is left; gives up after `limitMs`. Never rejects. */
  close(limitMs: number): Promise<void>;
}

const NO_TELEMETRY: Telemetry = {
  tracer: undefined,
  exportMetrics: () => undefined,
  close: () => Promise.resolve(),
};

/** Without a collector the SDK is not even loaded. */
export async function startTelemetry(settings: TelemetrySettings, host: TelemetryHost): Promise<Telemetry> {
  const { traces, metrics } = settings;
  if (traces === undefined && metrics === undefined) return NO_TELEMETRY;
  const { OtelTelemetry } = await import('./otlp/otel.telemetry.js');
  host.logger.info(
    { traces: placeOf(traces), metrics: placeOf(metrics), service: settings.serviceName },
    'telemetry is exported over OTLP',
  );
  return new OtelTelemetry(settings, host);
}

function placeOf(collector: TelemetrySettings['traces']): string {
  return collector === undefined ? 'not exported' : `${new URL(collector.url).origin} (${collector.protocol})`;
}
