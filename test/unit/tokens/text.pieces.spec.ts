import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { MAX_PIECE_CHARS, MAX_RUN_CHARS, textPieces } from '../../../src/tokens/text.pieces.js';

describe('textPieces()', () => {
  it('gives short pieces that join to the text, and cuts no surrogate pair', () => {
    const unit = fc.constantFrom('a', ' ', '\n', '漢', '😀', 'e\u0301', 'word ', 'x'.repeat(400), ' '.repeat(400));
    fc.assert(
      fc.property(fc.array(unit, { maxLength: 400 }), (units) => {
        const text = units.join('');
        const pieces = [...textPieces(text)];
        expect(pieces.join('')).toBe(text);
        for (const piece of pieces) {
          expect(piece.length).toBeLessThanOrEqual(MAX_PIECE_CHARS);
          expect(piece).not.toMatch(/\p{Surrogate}/u);
        }
      }),
    );
  });

  it('leaves a short text whole', () => {
    expect([...textPieces('')]).toEqual([]);
    expect([...textPieces('x'.repeat(MAX_PIECE_CHARS))]).toHaveLength(1);
  });

  it('cuts before whitespace, so that a space stays with its word', () => {
    const pieces = [...textPieces(`${'a'.repeat(900)} ${'b'.repeat(900)}`)];
    expect(pieces.map((piece) => piece.length)).toEqual([900, 901]);
  });

  it('cuts a run without whitespace into shorter pieces', () => {
    const [first] = [...textPieces('a'.repeat(5_000))];
    expect(first).toHaveLength(MAX_RUN_CHARS);
  });
});
