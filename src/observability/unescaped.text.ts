/** A text as somebody reads it, and where in the original each of its characters begins, and the last one ends. */
export interface Reading {
  readonly text: string;
  /** Undefined: it is the original. */
  readonly begins?: readonly number[];
}

/** A part of the original. */
export interface Range {
  readonly from: number;
  readonly to: number;
}

/** One character as URLs, JSON and HTML spell it. */
const ESCAPE = /%[0-9a-f]{2}|\\u[0-9a-f]{4}|\\["\\/]|&#\d{1,7};|&#x[0-9a-f]{1,6};|&(?:amp|lt|gt|quot|apos);/gi;
const ENTITIES: Readonly<Record<string, string>> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&apos;': "'",
};

/** The text behind a text: with its escapes read, of all kinds at once; undefined where it has none. */
export function unescaped({ text, begins }: Reading): Reading | undefined {
  const parts: string[] = [];
  const places: number[] = [];
  let end = 0;
  const keep = (to: number): void => {
    parts.push(text.slice(end, to));
    for (let at = end; at < to; at += 1) places.push(begins?.[at] ?? at);
  };
  for (const { 0: escape, index } of text.matchAll(ESCAPE)) {
    keep(index);
    parts.push(meaningOf(escape));
    places.push(begins?.[index] ?? index);
    end = index + escape.length;
  }
  if (end === 0) return undefined;
  keep(text.length);
  places.push(begins?.[text.length] ?? text.length);
  return { text: parts.join(''), begins: places };
}

/**
 * All places of some words.
 *
 * @param letters - each place reaches as far as there are such letters around it
 */
export function foundIn({ text, begins }: Reading, words: readonly string[], letters = /(?!)/): Range[] {
  const found: Range[] = [];
  for (const word of words) {
    let to = 0;
    for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, to)) {
      let from = at;
      while (from > to && letters.test(text.charAt(from - 1))) from -= 1;
      to = at + word.length;
      // Behind the end is '', which is no letter.
      while (letters.test(text.charAt(to))) to += 1;
      found.push(originalOf({ from, to }, begins));
    }
  }
  return found;
}

function originalOf({ from, to }: Range, begins: readonly number[] = []): Range {
  return { from: begins[from] ?? from, to: begins[to] ?? to };
}

/** Of one UTF-16 unit: secrets that go into headers have no others. */
function meaningOf(escape: string): string {
  if (escape.startsWith('%')) return String.fromCharCode(Number.parseInt(escape.slice(1), 16));
  if (escape.startsWith('&#x') || escape.startsWith('&#X'))
    return String.fromCharCode(Number.parseInt(escape.slice(3), 16));
  if (escape.startsWith('&#')) return String.fromCharCode(Number.parseInt(escape.slice(2), 10));
  if (escape.startsWith('&')) return ENTITIES[escape.toLowerCase()] ?? escape.charAt(0);
  return escape.length > 2 ? String.fromCharCode(Number.parseInt(escape.slice(2), 16)) : escape.charAt(1);
}
