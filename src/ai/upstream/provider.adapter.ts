import type { Deployment } from '../catalogue/catalogue.js';

/** One attempt at one deployment. */
export interface AttemptRequest {
  readonly deployment: Deployment;
  /** The caller's body as it arrived, an OpenAI chat completion request, less this service's own members. */
  readonly bodyText: string;
  /** How many answers were asked for (`n`). */
  readonly choices: number;
  /** The few headers of the caller's that go on to the provider. */
  readonly headers: Readonly<Record<string, string>>;
  readonly requestId: string;
  /** TCP and TLS, ms. */
  readonly connectMs: number;
  /** Ends the attempt with its reason, at any moment. */
  readonly signal: AbortSignal;
  /** To be called for every piece of a whole answer that arrives. */
  readonly progressed: () => void;
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

/**
 * Speaks one kind of provider. Both calls throw an `UpstreamFailure` for what the provider or the network does, and the signal's
 * reason once it is aborted.
 */
export interface ProviderAdapter {
  complete(attempt: AttemptRequest): Promise<UpstreamReply>;
  stream(attempt: AttemptRequest): Promise<UpstreamStream>;
}
