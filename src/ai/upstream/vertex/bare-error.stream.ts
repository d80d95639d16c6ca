import { Transform, type TransformCallback } from 'node:stream';

const LINE_FEED = 10;
/** `{` and `[`: no line of an event stream begins with them. */
const JSON_STARTS: readonly (number | undefined)[] = [123, 91];

/**
 * An error that befalls a stream may come as any other error does, as bare JSON after the events (so Google's own client reads it):
 * this makes an event of it. All else passes as it is.
 */
export class BareErrorStream extends Transform {
  #isAtLineStart = true;
  #isBare = false;

  override _transform(piece: Buffer, _: BufferEncoding, done: TransformCallback): void {
    const start = this.#isBare ? 0 : this.#startOfJson(piece);
    if (start === -1) {
      this.#isAtLineStart = piece.at(-1) === LINE_FEED;
      done(null, piece);
      return;
    }
    // Whatever event was begun before ends here.
    const opening = this.#isBare ? '' : '\n\ndata:';
    this.#isBare = true;
    // Bytes and not characters: a piece may end within one.
    const json = opening + piece.subarray(start).toString('latin1').replaceAll('\n', '\ndata:');
    done(null, Buffer.concat([piece.subarray(0, start), Buffer.from(json, 'latin1')]));
  }

  override _flush(done: TransformCallback): void {
    done(null, this.#isBare ? Buffer.from('\n\n') : null);
  }

  #startOfJson(piece: Buffer): number {
    if (this.#isAtLineStart && JSON_STARTS.includes(piece[0])) return 0;
    for (let end = piece.indexOf(LINE_FEED); end !== -1; end = piece.indexOf(LINE_FEED, end + 1)) {
      if (JSON_STARTS.includes(piece[end + 1])) return end + 1;
    }
    return -1;
  }
}
