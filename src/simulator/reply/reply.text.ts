import type { SeededRandom } from './seeded.random.js';

const WORDS =
  `the a one each other lease queue window budget token stream frame model prompt answer quota turn caller waiter holder
deadline signal river harbour lantern orchard summer winter quiet bright early late often never almost slowly carries returns waits
follows reaches keeps opens closes counts sends over under between through before after until because while`.split(
    /\s+/,
  );

// Text that breaks on careless byte handling: two to four bytes, a joined family, combining marks, right-to-left.
const SPRINKLES = ['naïve', '你好', '😀', 'e\u0301te\u0301', '👩‍👩‍👧', 'Grüße', 'שלום', '東京', '€'] as const;

/** Prose without meaning, with some emoji, Chinese and combining marks in it. */
export function pseudoText(random: SeededRandom, words: number): string {
  const text: string[] = [];
  let left = 0;
  for (let index = 0; index < words; index += 1) {
    const word = random.next() < 0.06 ? random.pick(SPRINKLES) : random.pick(WORDS);
    const startsSentence = left === 0;
    left = startsSentence ? random.integer(5, 12) : left - 1;
    const ends = left === 0 || index === words - 1;
    text.push((startsSentence ? word.charAt(0).toUpperCase() + word.slice(1) : word) + (ends ? '.' : ''));
    left = ends ? 0 : left;
  }
  return text.join(' ');
}

/** About a token each; never a part of a code point. */
const PIECE = /\s{0,8}[\p{L}\p{M}\p{N}_]{1,8}|\s{0,8}[^\s\p{L}\p{M}\p{N}_]{1,3}|\s{1,8}/gu;

/** The text in the pieces in which it streams; joined they are the text. */
export function streamPieces(text: string): readonly string[] {
  return text.match(PIECE) ?? [];
}
