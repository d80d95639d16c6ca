import type { TraceSpan } from '../../observability/index.js';
import type { RouteReason } from '../route/obstacle.js';
import { isObject, type JsonObject } from '../wire/json-value.js';
import type { Usage } from './cost.js';

/** What a provider may call a model, or the end of an answer; anything else is not shown. */
const NAME = /^[\w.:/@-]{1,128}$/;
/** Of `n` answers. */
const MOST_REASONS = 16;

/** The caller's headers that an attempt's own take the place of. */
const TRACE_HEADERS = ['traceparent', 'tracestate'];

/** How an attempt was over. */
export interface AttemptOutcome {
  /** The provider's last word. */
  readonly usage: Usage | undefined;
  readonly reasoningTokens: number;
  /** A code; undefined: it went well. */
  readonly error: string | undefined;
}

/** One attempt in a trace, by the conventions for generative AI. Nothing that was asked or answered is in it. */
export class AttemptTrace {
  #model: string | undefined;
  readonly #reasons = new Map<unknown, string>();

  constructor(private readonly span: TraceSpan) {}

  /** What the provider is sent of the caller's headers, and where it goes on with the trace. */
  headers(forwarded: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
    const others = Object.entries(forwarded).filter(([name]) => !TRACE_HEADERS.includes(name));
    return { ...Object.fromEntries(others), ...this.span.headers };
  }

  /** Why this model is asked. */
  routed(route: RouteReason): void {
    this.span.set({ 'coordinator.route': route });
  }

  /** The first content of a stream is there. */
  firstChunk(afterMs: number): void {
    this.span.set({ 'gen_ai.response.time_to_first_chunk': afterMs / 1_000 });
  }

  /** A completion, or a chunk of one, has come. */
  readonly came = ({ model, choices }: JsonObject): void => {
    if (typeof model === 'string' && NAME.test(model)) this.#model = model;
    if (!Array.isArray(choices)) return;
    for (const choice of choices.filter(isObject)) {
      const { index = 0, finish_reason: reason } = choice;
      const isTold = typeof reason === 'string' && NAME.test(reason) && this.#reasons.size < MOST_REASONS;
      if (isTold) this.#reasons.set(index, reason);
    }
  };

  /** It was let in too late to be sent. */
  unsent(): void {
    this.span.end('unsent');
  }

  end({ usage, reasoningTokens, error }: AttemptOutcome): void {
    const reasons = [...this.#reasons.values()];
    this.span.set({
      'gen_ai.response.model': this.#model,
      'gen_ai.response.finish_reasons': reasons.length === 0 ? undefined : reasons,
      'gen_ai.usage.input_tokens': usage?.promptTokens,
      'gen_ai.usage.output_tokens': usage?.completionTokens,
      'gen_ai.usage.cache_read.input_tokens': usage?.cachedTokens,
      'gen_ai.usage.reasoning.output_tokens': usage === undefined ? undefined : reasoningTokens,
    });
    this.span.end(error);
  }
}
