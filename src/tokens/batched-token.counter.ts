import { setImmediate as nextTurn } from 'node:timers/promises';
import type { CountedPart } from './counted.part.js';
import { pieceBatches } from './piece.batches.js';
import { PROMPT_FORMATS, type PromptFormat } from './prompt.format.js';
import { messageParts, requestParts } from './request.parts.js';
import type { CountOptions, TokenCount, TokenCounter, TokenizerOptions } from './token-counter.js';

const DEFAULT_PATIENCE_MS = 2_000;

/** The tokens of some pieces; undefined when it cannot say, or the signal aborts first. Never rejects. */
export type PieceEncoder = (pieces: readonly string[], signal: AbortSignal) => Promise<number | undefined>;

/** Counts batch by batch. The batches of different counts take turns, so that a long text holds up no short one. */
export class BatchedTokenCounter implements TokenCounter {
  private readonly format: PromptFormat;

  /** @param encode undefined: bytes are counted */
  constructor(
    private readonly tokenizer: TokenizerOptions,
    private readonly encode: PieceEncoder | undefined,
  ) {
    this.format = PROMPT_FORMATS[tokenizer.encoding];
  }

  count(text: string, options?: CountOptions): Promise<TokenCount> {
    return this.countParts([text], options);
  }

  countMessage(message: unknown, options?: CountOptions): Promise<TokenCount> {
    return this.countParts(messageParts(message, this.format), options);
  }

  countRequest(body: unknown, options?: CountOptions): Promise<TokenCount> {
    return this.countParts(requestParts(body, this.format), options);
  }

  private async countParts(
    parts: Iterable<CountedPart>,
    { signal, patienceMs = DEFAULT_PATIENCE_MS }: CountOptions = {},
  ): Promise<TokenCount> {
    signal?.throwIfAborted();
    const waiting = new AbortController();
    const stopWaiting = (): void => {
      waiting.abort();
    };
    const patience = setTimeout(stopWaiting, patienceMs).unref();
    signal?.addEventListener('abort', stopWaiting, { once: true });
    try {
      return await this.countBatches(parts, waiting.signal, signal);
    } finally {
      clearTimeout(patience);
      signal?.removeEventListener('abort', stopWaiting);
    }
  }

  private async countBatches(
    parts: Iterable<CountedPart>,
    waiting: AbortSignal,
    signal: AbortSignal | undefined,
  ): Promise<TokenCount> {
    let textTokens = 0;
    let attachmentTokens = 0;
    let encode = this.encode;
    for (const { pieces, overhead, attachment, isLast } of pieceBatches(parts)) {
      const encoded = pieces.length === 0 ? 0 : await encode?.(pieces, waiting);
      signal?.throwIfAborted();
      if (encoded === undefined) {
        encode = undefined;
      }
      textTokens += overhead + (encoded ?? countBytes(pieces));
      attachmentTokens += attachment;
      // The thread's answer alone is no turn: a port delivers up to 1,000 messages in one.
      if (!isLast) await nextTurn();
    }
    const tokens = scaled(textTokens, this.tokenizer.ratio) + attachmentTokens;
    return { tokens, textTokens, attachmentTokens, isEstimate: encode !== this.encode };
  }
}

function countBytes(pieces: readonly string[]): number {
  return pieces.reduce((sum, piece) => sum + Buffer.byteLength(piece, 'utf8'), 0);
}

function scaled(tokens: number, ratio: number): number {
  // Rounded first: 100 × 1.1 is 110.00000000000001 in binary.
  return Math.ceil(Number((tokens * ratio).toFixed(6)));
}
