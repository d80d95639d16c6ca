/**
 * `o200k`: the byte-pair encoding of GPT-4o and GPT-4.1. `claude`: the nearest public one to Claude's, which is not public itself. `bytes`: UTF-8
 * bytes, for models whose tokenizer is unknown.
 */
export type Encoding = 'o200k' | 'claude' | 'bytes';

/** How a model's text is counted. */
export interface TokenizerOptions {
  readonly encoding: Encoding;
  /** Factor on the encoding's result, > 0. 1 where the encoding is the model's own; with `bytes`, 1 is a rigorous upper bound. */
  readonly ratio: number;
}

/** What a text, a message or a request comes to. */
export interface TokenCount {
  /** What the model is expected to bill: `textTokens` times the ratio, rounded up, and `attachmentTokens`. */
  readonly tokens: number;
  /** The encoding's own count, with what the chat format puts around it: what a ratio is learned for. */
  readonly textTokens: number;
  /** The allowance for pictures, sound and files. No ratio applies to it. */
  readonly attachmentTokens: number;
  /**
   * True: the encoding could not be asked in time (overload, a broken thread, patience at its end), and the UTF-8 bytes of what it did not count stand
   * for their tokens. No byte-pair encoding makes more tokens than bytes, so this is an upper bound on the exact count: about four times it in English.
   */
  readonly isEstimate: boolean;
}

export interface CountOptions {
  /** Ends the count: it rejects with the signal's reason. */
  readonly signal?: AbortSignal;
  /** How long the exact count is waited for before an upper bound is answered. Milliseconds, at most 2^31 - 1; default 2,000. */
  readonly patienceMs?: number;
}

/**
 * Counts what a model will be billed for. Never throws on content: special-token spellings and lone surrogates are plain text. The event loop stays free
 * whatever the text: here it is only cut into pieces, 16,384 characters between two turns of the loop; a thread of its own encodes them.
 */
export interface TokenCounter {
  /** Tokens in one text, without any message overhead; '' is 0. */
  count(text: string, options?: CountOptions): Promise<TokenCount>;

  /** Tokens of one chat message with its overhead. */
  countMessage(message: unknown, options?: CountOptions): Promise<TokenCount>;

  /**
   * Prompt tokens of a Chat Completions body: messages, tools and output schema, and what primes the reply. Pictures, sound and files
   * count a fixed number each; base64 is never read as text. Accepts any JSON value: what is not a chat body counts as little as it holds.
   */
  countRequest(body: unknown, options?: CountOptions): Promise<TokenCount>;
}
