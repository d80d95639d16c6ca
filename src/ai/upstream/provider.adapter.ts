import type { Deployment } from '../catalogue/catalogue.js';
import type { UpstreamHeaders } from './retry-after.js';
import type { JsonObject } from '../wire/json-value.js';

/** One attempt at one deployment. */
export interface AttemptRequest {
  readonly deployment: Deployment;
  /** The caller's body as it arrived, an OpenAI chat completion request, less this service's own members. */
  readonly bodyText: string;
  /** The same, parsed: for adapters that translate. */
  readonly body: JsonObject;
  /** How many answers were asked for (`n`). */
  readonly choices: number;
  /** The most that the model writes in one answer, tokens: for providers that must be told a limit where the caller set none. */
  readonly maxOutputTokens: number;
  /** The few headers of the caller's that go on to the provider. */
  readonly headers: Readonly<Record<string, string>>;
  readonly requestId: string;
  /** TCP and TLS, ms. */
  readonly connectMs: number;
  /** Ends the attempt with its reason, at any moment. */
  readonly signal: AbortSignal;
  /** To be called for every piece of a whole answer that arrives. */
  readonly progressed: () => void;
  /** Called right before it goes onto the wire. @throws LateSendError where it must not; undefined: it always may */
  readonly sending?: (() => void) | undefined;
  /** Called with the headers of every answer, refusals too: they tell what is left of a quota. */
  readonly heard: (headers: UpstreamHeaders) => void;
}

/** A whole answer. */
export interface UpstreamReply {
  /** JSON text of an OpenAI chat completion. */
  readonly text: string;
  readonly value: Readonly<Record<string, unknown>>;
  /** The provider's headers that go on to the caller. */
  readonly headers: Readonly<Record<string, string>>;
}

/** A started stream. The provider has said 200; what follows may still be an error. */
export interface UpstreamStream {
  readonly headers: Readonly<Record<string, string>>;
  /**
   * The stream's events, in the groups in which they came from the network; a group may be empty. It ends after `done` and by no
   * other way: an end without it, an error event, or anything that is not the protocol throws an `UpstreamFailure`.
   */
  readonly events: AsyncIterable<readonly StreamEvent[]>;
}

export type StreamEvent = ChunkEvent | { readonly kind: 'comment' } | { readonly kind: 'done' };

export interface ChunkEvent {
  readonly kind: 'chunk';
  /** JSON text of an OpenAI chat.completion.chunk. */
  readonly text: string;
  readonly value: Readonly<Record<string, unknown>>;
}

/** A member of a request that a provider has no counterpart for. */
export interface Untranslatable {
  readonly param: string;
  /** Completes the sentence "<param> …", e.g. `has no counterpart there`. */
  readonly why: string;
}

/**
 * Speaks one kind of provider. Both calls throw an `UpstreamFailure` for what the provider or the network does, and the signal's
 * reason once it is aborted.
 */
export interface ProviderAdapter {
  /**
   * What of a request can't be said to this kind of provider, by the member's path and why, e.g.
   * `{ param: 'logit_bias', why: 'has no counterpart' }`; undefined: it can be sent. Asked before an attempt, so that another
   * deployment may take it.
   */
  untranslatable(body: JsonObject): Untranslatable | undefined;
  complete(attempt: AttemptRequest): Promise<UpstreamReply>;
  stream(attempt: AttemptRequest): Promise<UpstreamStream>;
}
