import type { SpanAttributes, SpanOptions, TraceIds, TraceSpan } from '../../src/observability/index.js';

let spans = 0;

/** A step of a trace that only remembers what it was told. */
export class RecordedSpan implements TraceSpan {
  readonly traceId = 'a'.repeat(32);
  readonly spanId: string;
  readonly children: RecordedSpan[] = [];
  readonly events: { readonly name: string; readonly attributes: SpanAttributes | undefined }[] = [];
  readonly links: TraceIds[] = [];
  /** What it was ended with, each time. */
  readonly ended: (string | undefined)[] = [];
  attributes: SpanAttributes;

  constructor(
    readonly name: string,
    readonly options: SpanOptions = {},
  ) {
    spans += 1;
    this.spanId = spans.toString(16).padStart(16, '0');
    this.attributes = options.attributes ?? {};
  }

  get headers(): Readonly<Record<string, string>> {
    return { traceparent: `00-${this.traceId}-${this.spanId}-01` };
  }

  child(name: string, options?: SpanOptions): RecordedSpan {
    const child = new RecordedSpan(name, options);
    this.children.push(child);
    return child;
  }

  event(name: string, attributes?: SpanAttributes): void {
    this.events.push({ name, attributes });
  }

  set(attributes: SpanAttributes): void {
    this.attributes = { ...this.attributes, ...attributes };
  }

  link(other: TraceIds): void {
    this.links.push(other);
  }

  run(work: () => void): void {
    work();
  }

  end(error?: string): void {
    this.ended.push(error);
  }
}
