/** Longest piece that is encoded at once. */
export const MAX_PIECE_CHARS = 1_000;

/**
 * Longest run of one kind (whitespace, word, other) within a piece. Encodings split a text where its kind changes and then merge byte pairs, which is
 * quadratic in the run: this bounds the work for a character. Real text hardly has such runs, so that its count stays exact.
 */
export const MAX_RUN_CHARS = 256;

/**
 * The text in pieces of at most MAX_PIECE_CHARS, cut before whitespace (a space belongs to the word after it), else between code points.
 * Joined they are the text. Linear in the text's length, and lazy.
 */
export function* textPieces(text: string): Generator<string> {
  let start = 0;
  while (start < text.length) {
    const end = pieceEnd(text, start);
    yield text.slice(start, end);
    start = end;
  }
}

function pieceEnd(text: string, start: number): number {
  const limit = Math.min(text.length, start + MAX_PIECE_CHARS);
  let runStart = start;
  let runKind = kindAt(text, start);
  let lastSpace = start;
  for (let at = start + 1; at < limit; at += 1) {
    const kind = kindAt(text, at) ?? runKind;
    if (kind !== runKind) {
      runStart = at;
      runKind = kind;
      lastSpace = kind === 'space' ? at : lastSpace;
    } else if (at - runStart >= MAX_RUN_CHARS) {
      return betweenCodePoints(text, at);
    }
  }
  if (limit === text.length) return limit;
  return lastSpace > start ? lastSpace : betweenCodePoints(text, limit);
}

type Kind = 'space' | 'word' | 'other';

const SPACE = /\s/u;
const WORD = /[\p{L}\p{N}]/u;
const MARK = /\p{M}/u;

const ASCII: readonly Kind[] = Array.from({ length: 0x80 }, (_, code) => kindOf(String.fromCodePoint(code)) ?? 'other');

/** Undefined for what belongs to the character before it: a combining mark, or the second half of a surrogate pair. */
function kindAt(text: string, at: number): Kind | undefined {
  const code = text.charCodeAt(at);
  if (code < 0x80) return ASCII[code];
  if (isLowSurrogate(code)) return undefined;
  return kindOf(String.fromCodePoint(text.codePointAt(at) ?? code));
}

function kindOf(character: string): Kind | undefined {
  if (WORD.test(character)) return 'word';
  if (MARK.test(character)) return undefined;
  return SPACE.test(character) ? 'space' : 'other';
}

function betweenCodePoints(text: string, at: number): number {
  return isLowSurrogate(text.charCodeAt(at)) && isHighSurrogate(text.charCodeAt(at - 1)) ? at - 1 : at;
}

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff;
}

function isLowSurrogate(code: number): boolean {
  return code >= 0xdc00 && code <= 0xdfff;
}
