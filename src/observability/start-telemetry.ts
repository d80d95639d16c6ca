import type { TelemetrySettings } from '../config/index.js';
import type { Telemetry, TelemetryHost } from './telemetry.js';

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
