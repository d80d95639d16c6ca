import { setImmediate as nextTurn } from 'node:timers/promises';
import { messageParts, PRIMING_TOKENS, requestParts, type CountedPart } from './request.parts.js';
import { textPieces } from './text.pieces.js';
import type { TokenCounter } from './token-counter.js';

/** Work done before the process's other work gets its turn: a few milliseconds. */
const BATCH_CHARS = 16_384;
/** A part costs this much beside its characters. */
const PART_CHARS = 16;

/** Counts with one encoding and one factor. */
export class EncodedTokenCounter implements TokenCounter {
  /** @param encode counts a piece of at most MAX_PIECE_CHARS */
  constructor(
    private readonly encode: (piece: string) => number,
    private readonly ratio: number,
  ) {}

  count(text: string): number {
    let tokens = 0;
    for (const piece of textPieces(text)) {
      tokens += this.encode(piece);
    }
    return this.scale(tokens);
  }

  async countMessage(message: unknown): Promise<number> {
    return this.countParts(messageParts(message), 0);
  }

  async countRequest(body: unknown): Promise<number> {
    return this.countParts(requestParts(body), PRIMING_TOKENS);
  }

  private async countParts(parts: Iterable<CountedPart>, priming: number): Promise<number> {
    let scaled = priming;
    let fixed = 0;
    let charsInTurn = 0;
    for (const part of parts) {
      charsInTurn += PART_CHARS;
      if (typeof part !== 'string') {
        scaled += part.overhead;
        fixed += part.attachment;
        continue;
      }
      for (const piece of textPieces(part)) {
        scaled += this.encode(piece);
        charsInTurn += piece.length;
        if (charsInTurn >= BATCH_CHARS) {
          charsInTurn = 0;
          await nextTurn();
        }
      }
    }
    return this.scale(scaled) + fixed;
  }

  private scale(tokens: number): number {
    // Rounded first: 100 × 1.1 is 110.00000000000001 in binary.
    return Math.ceil(Number((tokens * this.ratio).toFixed(6)));
  }
}
