import type { CountedPart } from './counted.part.js';
import { textPieces } from './text.pieces.js';

/** Text that is cut between two turns of the event loop, and encoded at once: under a millisecond here, at the very worst 50 in the thread. */
export const BATCH_CHARS = 16_384;

/** A part or piece costs this much beside its characters. */
const PART_CHARS = 16;

export interface PieceBatch {
  /** Each of at most MAX_PIECE_CHARS. */
  readonly pieces: readonly string[];
  readonly overhead: number;
  readonly attachment: number;
  readonly isLast: boolean;
}

/** What is counted, in batches of about BATCH_CHARS. Lazy: a batch is cut when it is asked for. */
export function* pieceBatches(parts: Iterable<CountedPart>): Generator<PieceBatch> {
  let pieces: string[] = [];
  let overhead = 0;
  let attachment = 0;
  let chars = 0;
  for (const item of piecesOf(parts)) {
    if (typeof item === 'string') {
      pieces.push(item);
      chars += item.length;
    } else {
      overhead += item.overhead;
      attachment += item.attachment;
    }
    chars += PART_CHARS;
    if (chars >= BATCH_CHARS) {
      yield { pieces, overhead, attachment, isLast: false };
      [pieces, overhead, attachment, chars] = [[], 0, 0, 0];
    }
  }
  yield { pieces, overhead, attachment, isLast: true };
}

function* piecesOf(parts: Iterable<CountedPart>): Generator<CountedPart> {
  for (const part of parts) {
    if (typeof part === 'string' && part !== '') {
      yield* textPieces(part);
    } else {
      yield typeof part === 'string' ? NOTHING : part;
    }
  }
}

/** An empty text: it has no piece, but looking at it is work. */
const NOTHING: CountedPart = { overhead: 0, attachment: 0 };
