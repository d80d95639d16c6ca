/** How a model's text is counted. */
export interface TokenizerOptions {
  /** `o200k`: the byte-pair encoding of GPT-4o and later. `bytes`: UTF-8 bytes, for models whose tokenizer is unknown. */
  readonly encoding: 'o200k' | 'bytes';
  /** Factor on the encoding's result, > 0. 1 where the encoding is the model's own; with `bytes`, 1 is a rigorous upper bound. */
  readonly ratio: number;
}

/** Counts what a model will be billed for. Never throws on content: special-token spellings and lone surrogates are plain text. */
export interface TokenCounter {
  /**
   * Tokens in one text, without any message overhead; '' is 0. Time grows linearly with the text whatever it holds, but this call does not
   * yield: for whole requests use {@link countRequest}.
   */
  count(text: string): number;

  /** Tokens of one chat message with its overhead. Yields to the event loop between batches of a long one. */
  countMessage(message: unknown): Promise<number>;

  /**
   * Prompt tokens of a Chat Completions body: messages, tools and output schema, and what primes the reply. Pictures, sound and files
   * count a fixed number each; base64 is never read as text. Accepts any JSON value: what is not a chat body counts as little as it holds.
   */
  countRequest(body: unknown): Promise<number>;
}
