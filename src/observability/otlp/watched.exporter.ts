import { type ExportResult, ExportResultCode } from '@opentelemetry/core';
import type { PushMetricExporter, ResourceMetrics } from '@opentelemetry/sdk-metrics';
import type { ReadableSpan, SpanExporter } from '@opentelemetry/sdk-trace-base';
import type { Logger } from '../logger.js';

/** Between two lines that say the same, ms. */
const QUIET_MS = 60_000;

/** Tells of exports that fail, a line a minute at most, and of the first that does not any more. */
export class ExportWatch {
  #toldAt = Number.NEGATIVE_INFINITY;
  #failures = 0;

  /** @param now - monotonic, ms */
  constructor(
    private readonly signal: 'traces' | 'metrics',
    private readonly logger: Pick<Logger, 'warn' | 'info'>,
    private readonly now: () => number = () => performance.now(),
  ) {}

  ended({ code, error }: ExportResult): void {
    if (code === ExportResultCode.SUCCESS) {
      if (this.#failures > 0)
        this.logger.info({ signal: this.signal, failures: this.#failures }, 'telemetry is exported again');
      this.#failures = 0;
      return;
    }
    this.#failures += 1;
    if (this.now() - this.#toldAt < QUIET_MS) return;
    this.#toldAt = this.now();
    this.logger.warn(
      { signal: this.signal, failures: this.#failures, reason: reasonOf(error) },
      'telemetry could not be exported: what the collector did not take is lost',
    );
  }
}

/** The collector's own words, and its address, stay out of the log. */
function reasonOf(error: Error | undefined): string {
  const code: unknown = error === undefined ? undefined : Reflect.get(error, 'code');
  if (typeof code === 'number') return `status ${String(code)}`;
  return typeof code === 'string' ? code : (error?.name ?? 'unknown');
}

/** An exporter of spans that is watched. */
export function watchedSpans(exporter: SpanExporter, watch: ExportWatch): SpanExporter {
  return {
    export(spans: ReadableSpan[], told: (result: ExportResult) => void) {
      exporter.export(spans, (result) => {
        watch.ended(result);
        told(result);
      });
    },
    shutdown: () => exporter.shutdown(),
    forceFlush: () => exporter.forceFlush?.() ?? Promise.resolve(),
  };
}

/** An exporter of metrics that is watched. */
export function watchedMetrics(exporter: PushMetricExporter, watch: ExportWatch): PushMetricExporter {
  return {
    export(metrics: ResourceMetrics, told: (result: ExportResult) => void) {
      exporter.export(metrics, (result) => {
        watch.ended(result);
        told(result);
      });
    },
    shutdown: () => exporter.shutdown(),
    forceFlush: () => exporter.forceFlush(),
  };
}
