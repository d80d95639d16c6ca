import { context, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { type Resource, resourceFromAttributes } from '@opentelemetry/resources';
import { MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics';
import {
  BasicTracerProvider,
  BatchSpanProcessor,
  ParentBasedSampler,
  type Sampler,
  TraceIdRatioBasedSampler,
} from '@opentelemetry/sdk-trace-base';
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { Registry } from 'prom-client';
import type { SamplerSettings, TelemetrySettings } from '../../config/index.js';
import type { Logger } from '../logger.js';
import type { Telemetry, TelemetryHost } from '../telemetry.js';
import { OtelTracer } from './otel.span.js';
import { metricExporterTo, spanExporterTo } from './otlp.exporters.js';
import { RegistryProducer } from './registry.producer.js';
import { ExportWatch, watchedMetrics, watchedSpans } from './watched.exporter.js';

/** Ours, among those who may write spans and metrics in this process. */
const SCOPE = 'ai-api-coordinator';

/** What is traced and counted, exported by OpenTelemetry's SDK. Loaded only where something is exported. */
export class OtelTelemetry implements Telemetry {
  readonly tracer: OtelTracer | undefined;
  readonly #resource: Resource;
  readonly #logger: Logger;
  readonly #closings: (() => Promise<void>)[] = [];

  constructor(
    private readonly settings: TelemetrySettings,
    private readonly host: TelemetryHost,
  ) {
    this.#logger = host.logger;
    this.#resource = resourceFromAttributes({
      'service.instance.id': randomUUID(),
      'host.name': hostname(),
      ...settings.resource,
      'service.name': settings.serviceName,
      'service.version': settings.resource['service.version'] ?? host.version,
    });
    this.tracer = this.#startTraces();
  }

  exportMetrics(registries: readonly Registry[]): void {
    const { metrics } = this.settings;
    if (metrics === undefined) return;
    const watch = new ExportWatch('metrics', this.#logger);
    const reader = new PeriodicExportingMetricReader({
      exporter: watchedMetrics(metricExporterTo(metrics), watch),
      exportIntervalMillis: metrics.intervalMs,
      exportTimeoutMillis: Math.min(metrics.timeoutMs, metrics.intervalMs),
      metricProducers: [new RegistryProducer(registries, { name: SCOPE, version: this.host.version })],
    });
    const provider = new MeterProvider({ resource: this.#resource, readers: [reader] });
    this.#closings.push(() => provider.shutdown());
  }

  async close(limitMs: number): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<'late'>((resolve) => {
      timer = setTimeout(resolve, limitMs, 'late');
    });
    const closed = Promise.allSettled(this.#closings.splice(0).map((close) => close()));
    if ((await Promise.race([closed, late])) === 'late') {
      this.#logger.warn(
        { limit_ms: limitMs },
        'the collector did not take the last traces and metrics in time: they are lost',
      );
    }
    clearTimeout(timer);
  }

  #startTraces(): OtelTracer | undefined {
    const { traces, sampler, propagates } = this.settings;
    if (traces === undefined) return undefined;
    const watch = new ExportWatch('traces', this.#logger);
    const provider = new BasicTracerProvider({
      resource: this.#resource,
      sampler: samplerOf(sampler),
      // Its bounds, 2,048 spans among them, are those of the OTEL_BSP_ variables.
      spanProcessors: [new BatchSpanProcessor(watchedSpans(spanExporterTo(traces), watch))],
    });
    this.#closings.push(() => provider.shutdown());
    this.#offerToDevelopers(provider);
    return new OtelTracer(provider.getTracer(SCOPE, this.host.version), propagates);
  }

  /** Modules that are added to this service trace by `@opentelemetry/api`, which finds its provider by being process-wide. */
  #offerToDevelopers(provider: BasicTracerProvider): void {
    const contexts = new AsyncLocalStorageContextManager().enable();
    if (!context.setGlobalContextManager(contexts)) {
      contexts.disable();
      return;
    }
    const isOurs = trace.setGlobalTracerProvider(provider);
    this.#closings.push(() => {
      context.disable();
      if (isOurs) trace.disable();
      return Promise.resolve();
    });
  }
}

function samplerOf({ isParentBased, ratio }: SamplerSettings): Sampler {
  const root = new TraceIdRatioBasedSampler(ratio);
  return isParentBased ? new ParentBasedSampler({ root }) : root;
}
