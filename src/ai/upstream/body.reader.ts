import type { Readable } from 'node:stream';

/** More than any model writes in one answer; an upstream that sends more is broken. */
export const REPLY_LIMIT_BYTES = 64 * 1_024 * 1_024;

/**
 * Reads a body to its end as UTF-8.
 *
 * @param progressed - called for every piece that holds more than blanks: some providers send blank lines before a JSON answer to keep
 *   the connection alive (DeepSeek), which is no progress
 * @throws RangeError beyond `REPLY_LIMIT_BYTES`, TypeError for bytes that are not UTF-8, and whatever the stream throws
 */
export function readText(body: Readable, progressed: () => void): Promise<string> {
  // Listeners, not `for await`: an iterator per answer costs more than reading a small one.
  return new Promise((resolve, reject) => {
    const pieces: Buffer[] = [];
    let size = 0;
    let isWhole = false;
    body
      .on('data', (piece: Buffer) => {
        if (holdsMoreThanBlanks(piece)) progressed();
        size += piece.length;
        pieces.push(piece);
        if (size > REPLY_LIMIT_BYTES)
          body.destroy(new RangeError(`body of more than ${String(REPLY_LIMIT_BYTES)} bytes`));
      })
      .once('error', reject)
      .once('close', () => {
        // An error that nobody sees is dear: it remembers how it came about.
        if (!isWhole) reject(new Error('the body was cut off'));
      })
      .once('end', () => {
        isWhole = true;
        try {
          resolve(decode(pieces));
        } catch (error) {
          reject(error instanceof Error ? error : new Error('not UTF-8', { cause: error }));
        }
      });
  });
}

/** Of all bytes up to the space only blanks occur in JSON. */
function holdsMoreThanBlanks(piece: Buffer): boolean {
  return piece.some((byte) => byte > 0x20);
}

function decode(pieces: readonly Buffer[]): string {
  const [first = Buffer.alloc(0), ...more] = pieces;
  return UTF8.decode(more.length === 0 ? first : Buffer.concat(pieces));
}

const UTF8 = new TextDecoder('utf-8', { fatal: true });

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
