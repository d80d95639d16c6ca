import type { Readable } from 'node:stream';

/** More than any model writes in one answer; an upstream that sends more is broken. */
export const REPLY_LIMIT_BYTES = 64 * 1_024 * 1_024;

/**
 * Reads a body to its end as UTF-8.
 *
 * @param progressed - called for every piece
 * @throws RangeError beyond `REPLY_LIMIT_BYTES`, TypeError for bytes that are not UTF-8, and whatever the stream throws
 */
export async function readText(body: AsyncIterable<Uint8Array>, progressed: () => void): Promise<string> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  for await (const piece of body) {
    progressed();
    size += piece.length;
    if (size > REPLY_LIMIT_BYTES) throw new RangeError(`body of more than ${String(REPLY_LIMIT_BYTES)} bytes`);
    pieces.push(piece);
  }
  return new TextDecoder('utf-8', { fatal: true }).decode(pieces.length === 1 ? pieces[0] : Buffer.concat(pieces));
}

/** A refusal is known by its status; its words are waited for no longer than this, ms. */
const REFUSAL_PATIENCE_MS = 2_000;

const REFUSAL_LIMIT_BYTES = 262_144;

/** What a refusal says, as far as it comes soon and is not too long; what is cut off is not JSON and counts as no words. */
export async function readRefusal(body: Readable): Promise<string> {
  const timer = setTimeout(() => body.destroy(), REFUSAL_PATIENCE_MS);
  const pieces: Buffer[] = [];
  let size = 0;
  try {
    for await (const piece of body) {
      if (!(piece instanceof Uint8Array)) break;
      pieces.push(Buffer.from(piece));
      size += piece.length;
      if (size > REFUSAL_LIMIT_BYTES) break;
    }
  } catch {
    // The status says what happened; a body that breaks off adds nothing.
    return '';
  } finally {
    clearTimeout(timer);
  }
  return Buffer.concat(pieces).toString();
}
