import type { CallTerms, JsonObject } from '../../ai/index.js';

/** What a model is asked, for one turn. */
export interface GenerationRequest extends CallTerms {
  /** An OpenAI chat completion request with `stream: true` and `stream_options.include_usage`. */
  readonly body: JsonObject;
  /** Names the turn, so that the same call is never made twice. */
  readonly idempotencyKey?: string;
  /** Ends the call. */
  readonly signal: AbortSignal;
}

/** What was done for a turn's answer. */
export interface GenerationReport {
  /** Catalogue name of the model that answers. */
  readonly model?: string;
}

export interface Generation {
  /** OpenAI's chat.completion.chunks. Throws what the call fails with after its first content. */
  readonly events: AsyncIterable<{ readonly chunk: JsonObject }>;
  /** Filled in as the call goes on. */
  readonly report: GenerationReport;
}

/** Who gets a turn answered: under the caller's limits and budget, with fallbacks, and with no cache in between. */
export interface TurnGenerator {
  /**
   * Resolves once the first content is there.
   *
   * @throws ApiError for every failure before it; the signal's reason
   */
  generate(request: GenerationRequest): Promise<Generation>;
}
