import { type ErrorBody, errorBody, errorHeaders, errorStatus, toApiError } from '../../http/index.js';

/** Why an item has no answer: OpenAI's error object, and what the headers of an answer of its own would say. */
export type ItemError = ErrorBody['error'] & { readonly status: number; readonly retry_after_ms?: number };

/** What became of an item. */
export type ItemOutcome =
  /** JSON text of an OpenAI chat completion. */
  { readonly data: string } | { readonly error: ItemError };

/** What became of a batch. */
export interface BatchResult {
  /** Of each item, by its place, the JSON text of what is answered for it. */
  readonly results: string[];
  readonly succeeded: number;
}

/** That an item is over. */
export interface BatchProgress {
  readonly completed: number;
  readonly total: number;
  readonly index: number;
  readonly success: boolean;
  readonly error?: ItemError;
}

/** @param requestId - named where nobody foresaw the error */
export function itemError(error: unknown, requestId: string): ItemError {
  const answer = toApiError(error, { requestId });
  const retryAfterMs = errorHeaders(answer)['retry-after-ms'];
  return {
    ...errorBody(answer).error,
    status: errorStatus(answer),
    ...(retryAfterMs !== undefined && { retry_after_ms: Number(retryAfterMs) }),
  };
}

export function resultText(index: number, outcome: ItemOutcome): string {
  return 'data' in outcome
    ? `{"index":${index},"success":true,"data":${outcome.data}}`
    : JSON.stringify({ index, success: false, ...outcome });
}

/** Large enough that a piece is worth its way, characters. */
const PIECE = 65_536;

/** The whole answer in pieces. Each result is let go once it is given: a batch may be larger than what a reader takes at once. */
export function* resultPieces({ results, succeeded }: BatchResult): Generator<string> {
  const total = results.length;
  let piece = `{"object":"chat.completion.batch","total":${total},"succeeded":${succeeded},"failed":${total - succeeded},"results":[`;
  for (let index = 0; index < total; index += 1) {
    piece += `${index === 0 ? '' : ','}${results[index] ?? ''}`;
    results[index] = '';
    if (piece.length < PIECE) continue;
    yield piece;
    piece = '';
  }
  yield `${piece}]}`;
}
