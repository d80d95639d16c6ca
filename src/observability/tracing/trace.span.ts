import type { RemoteParent, TraceIds } from './trace.context.js';

/** What may stand in a trace: names of ours and of the configuration, codes and numbers; never text of a caller's or a provider's. */
export type SpanAttributes = Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>;

export interface SpanOptions {
  /** Default: a step within this service. */
  readonly kind?: 'server' | 'client';
  readonly attributes?: SpanAttributes;
  /** It began so long ago, ms. */
  readonly beganMsAgo?: number;
}

/**
 * One step of a request's way. Whoever has none, for nothing is traced, has `undefined`: `call.span?.event(…)` then costs nothing, and
 * its arguments are not even made.
 */
export interface TraceSpan extends TraceIds {
  /** What tells the next service to go on with the trace from here. */
  readonly headers: Readonly<Record<string, string>>;
  /** A step of this step; to be ended on every way out, before this one or after it. */
  child(name: string, options?: SpanOptions): TraceSpan;
  event(name: string, attributes?: SpanAttributes): void;
  set(attributes: SpanAttributes): void;
  /** It has to do with a step of another request. */
  link(other: TraceIds): void;
  /** Runs work under this step: those that a developer's own code begins there, by `@opentelemetry/api`, are steps of it. */
  run(work: () => void): void;
  /** A second time does nothing. @param error - a code; undefined: it went well */
  end(error?: string): void;
}

/** Begins traces, or goes on with those of others. */
export interface Tracer {
  begin(name: string, parent: RemoteParent | undefined, options: SpanOptions): TraceSpan;
}
