import type { Registry } from 'prom-client';
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
