import {
  type Attributes,
  context,
  createTraceState,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer as OtelApi,
  trace,
  TraceFlags,
} from '@opentelemetry/api';
import type { RemoteParent, TraceIds } from '../tracing/trace.context.js';
import type { SpanAttributes, SpanOptions, Tracer, TraceSpan } from '../tracing/trace.span.js';

const KINDS = { server: SpanKind.SERVER, client: SpanKind.CLIENT } as const;

/** Traces by OpenTelemetry. */
export class OtelTracer implements Tracer {
  /** @param propagates - false: nobody's trace is gone on with, and nobody is told of ours */
  constructor(
    private readonly api: OtelApi,
    private readonly propagates: boolean,
  ) {}

  begin(name: string, parent: RemoteParent | undefined, options: SpanOptions): TraceSpan {
    const above = parent === undefined || !this.propagates ? undefined : trace.wrapSpanContext(contextOf(parent));
    return this.start(name, above, options);
  }

  start(name: string, above: Span | undefined, { kind, attributes, beganMsAgo }: SpanOptions): TraceSpan {
    const options = {
      kind: kind === undefined ? SpanKind.INTERNAL : KINDS[kind],
      ...(attributes !== undefined && { attributes: known(attributes) }),
      ...(beganMsAgo !== undefined && { startTime: Date.now() - beganMsAgo }),
    };
    const under = above === undefined ? ROOT_CONTEXT : trace.setSpan(ROOT_CONTEXT, above);
    return new OtelSpan(this.api.startSpan(name, options, under), this);
  }

  headersOf(span: Span): Readonly<Record<string, string>> {
    if (!this.propagates) return {};
    const { traceId, spanId, traceFlags, traceState } = span.spanContext();
    const traceparent = `00-${traceId}-${spanId}-0${traceFlags & TraceFlags.SAMPLED}`;
    const tracestate = traceState?.serialize() ?? '';
    return tracestate === '' ? { traceparent } : { traceparent, tracestate };
  }
}

class OtelSpan implements TraceSpan {
  readonly traceId: string;
  readonly spanId: string;

  constructor(
    private readonly span: Span,
    private readonly tracer: OtelTracer,
  ) {
    const { traceId, spanId } = span.spanContext();
    this.traceId = traceId;
    this.spanId = spanId;
  }

  get headers(): Readonly<Record<string, string>> {
    return this.tracer.headersOf(this.span);
  }

  child(name: string, options: SpanOptions = {}): TraceSpan {
    return this.tracer.start(name, this.span, options);
  }

  event(name: string, attributes?: SpanAttributes): void {
    if (this.span.isRecording()) this.span.addEvent(name, attributes && known(attributes));
  }

  set(attributes: SpanAttributes): void {
    if (this.span.isRecording()) this.span.setAttributes(known(attributes));
  }

  link({ traceId, spanId }: TraceIds): void {
    this.span.addLink({ context: { traceId, spanId, traceFlags: TraceFlags.SAMPLED } });
  }

  run(work: () => void): void {
    context.with(trace.setSpan(context.active(), this.span), work);
  }

  end(error?: string): void {
    if (!this.span.isRecording()) return;
    // No message: what providers and callers say is none of a trace's business.
    if (error !== undefined) this.span.setStatus({ code: SpanStatusCode.ERROR }).setAttribute('error.type', error);
    this.span.end();
  }
}

function contextOf({ traceId, spanId, isSampled, state }: RemoteParent) {
  return {
    traceId,
    spanId,
    isRemote: true,
    traceFlags: isSampled ? TraceFlags.SAMPLED : TraceFlags.NONE,
    ...(state !== undefined && { traceState: createTraceState(state) }),
  };
}

function known(attributes: SpanAttributes): Attributes {
  const given: Attributes = {};
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== undefined) given[name] = typeof value === 'object' ? [...value] : value;
  }
  return given;
}
