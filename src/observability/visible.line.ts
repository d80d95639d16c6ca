/**
 * What JSON leaves as it is, and readers of logs do not: DEL and the C1 controls, of which U+009B begins a terminal's escape sequences and
 * U+0085 ends a line; U+2028 and U+2029, which end one too; marks and embeddings that turn the direction of a text round; and the mark
 * of the byte order. They stand in strings only, where an escape means the same.
 */
const UNSEEN = /[\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/;
const ALL_UNSEEN = new RegExp(UNSEEN, 'g');

/** A line of JSON in which everything can be seen, and which is one line for every reader. */
export function visibleLine(line: string): string {
  return UNSEEN.test(line) ? line.replace(ALL_UNSEEN, escaped) : line;
}

function escaped(character: string): string {
  return String.raw`\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
