import { type Coordinator, type CoordinatorOptions, startCoordinator } from './coordinator.js';
import { type CollectedSpan, OtlpCollector } from './otlp-collector.js';
import { type ScriptedUpstream, startScriptedUpstream } from './scripted-upstream.js';

/** A frontend's place in its own trace. */
export const FRONTEND = { traceId: '4bf92f3577b34da6a3ce929d0e0e4736', spanId: '00f067aa0ba902b7' };
export const TRACEPARENT = `00-${FRONTEND.traceId}-${FRONTEND.spanId}-01`;

/** A coordinator before two scripted providers, that exports to a collector. */
export class TraceRig {
  private constructor(
    readonly collector: OtlpCollector,
    readonly upstreams: readonly [ScriptedUpstream, ScriptedUpstream],
    readonly coordinator: Coordinator,
  ) {}

  static async start(options: Omit<CoordinatorOptions, 'upstreams'> = {}): Promise<TraceRig> {
    const collector = await OtlpCollector.start();
    const upstreams = [await startScriptedUpstream(), await startScriptedUpstream()] as const;
    const coordinator = await startCoordinator({
      ...options,
      upstreams: upstreams.map(({ url }) => url),
      environment: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, ...options.environment },
    });
    return new TraceRig(collector, upstreams, coordinator);
  }

  get url(): string {
    return this.coordinator.url;
  }

  /** Takes the coordinator down, which sends what is left. Waits for room are left out: on a busy machine there is one anywhere. */
  async flushed(): Promise<readonly CollectedSpan[]> {
    await this.coordinator.close();
    return this.collector.spans.filter(({ name }) => name !== 'admission wait');
  }

  async close(): Promise<void> {
    await this.coordinator.close();
    await Promise.all([this.collector.close(), ...this.upstreams.map((upstream) => upstream.close())]);
  }
}

/** The one span of that name. */
export function spanNamed(spans: readonly CollectedSpan[], name: string): CollectedSpan {
  const found = spans.filter((span) => span.name === name);
  const [only] = found;
  if (only === undefined || found.length > 1) {
    throw new Error(
      `${String(found.length)} spans are called ${name}, of ${spans.map((span) => span.name).join(', ')}`,
    );
  }
  return only;
}

/** A trace as lines, children indented under their parents, siblings by their names. */
export function treeOf(spans: readonly CollectedSpan[], parent: string = FRONTEND.spanId, depth = 0): string[] {
  return spans
    .filter(({ parentSpanId }) => parentSpanId === parent)
    .toSorted((one, other) => one.name.localeCompare(other.name))
    .flatMap((span) => [`${'  '.repeat(depth)}${span.name}`, ...treeOf(spans, span.spanId, depth + 1)]);
}
