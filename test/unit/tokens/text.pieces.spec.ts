import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { MAX_PIECE_CHARS, MAX_RUN_CHARS, textPieces } from '../../../src/tokens/text.pieces.js';

const unit = fc.constantFrom(
  'a',
  ' ',
  '\n',
  '漢',
  '，',
  '😀',
  'e\u0301',
  '!',
  'word ',
  ...['x', ' ', '-', '字'].map((each) => each.repeat(400)),
);
const texts = fc.array(unit, { maxLength: 400 }).map((units) => units.join(''));

describe('textPieces()', () => {
  it('gives short pieces that join to the text, and cuts no surrogate pair', () => {
    fc.assert(
      fc.property(texts, (text) => {
        const pieces = [...textPieces(text)];
        expect(pieces.join('')).toBe(text);
        for (const piece of pieces) {
          expect(piece.length).toBeGreaterThan(0);
          expect(piece.length).toBeLessThanOrEqual(MAX_PIECE_CHARS);
          expect(piece).not.toMatch(/\p{Surrogate}/u);
        }
      }),
    );
  });

  it('leaves no long run of one kind whole, since merging is quadratic in it', () => {
    const longRun = new RegExp(
      ['[\\p{L}\\p{N}]', '\\s', '[^\\p{L}\\p{N}\\p{M}\\s]']
        .map((kind) => `(?:${kind}){${String(MAX_RUN_CHARS + 1)}}`)
        .join('|'),
      'u',
    );
    fc.assert(
      fc.property(texts, (text) => {
        for (const piece of textPieces(text)) expect(piece).not.toMatch(longRun);
      }),
    );
  });

  it('leaves a short text whole, however long its lines', () => {
    expect([...textPieces('')]).toEqual([]);
    for (const text of ['word '.repeat(200), '租约到期后，'.repeat(160), '{"a":1,"b":[2,3]},'.repeat(50)]) {
      expect([...textPieces(text)]).toEqual([text]);
    }
  });

  it('cuts before whitespace, so that a space stays with its word', () => {
    const pieces = [...textPieces(`${'ab-'.repeat(300)} ${'cd-'.repeat(300)}`)];
    expect(pieces.map((piece) => piece.length)).toEqual([900, 901]);
  });

  it('counts a combining mark to the character before it', () => {
    const [first] = [...textPieces('e\u0301'.repeat(1_000))];
    expect(first).toHaveLength(MAX_RUN_CHARS);
  });
});
