import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { pseudoText, streamPieces } from '../../../src/simulator/reply/reply.text.js';
import { SeededRandom } from '../../../src/simulator/reply/seeded.random.js';

describe('streamPieces()', () => {
  it('joins to the text and splits no code point', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        const pieces = streamPieces(text);
        expect(pieces.join('')).toBe(text);
        for (const piece of pieces) expect(piece).not.toMatch(/^$|\p{Surrogate}/u);
      }),
    );
  });

  it('is linear in runs of anything', () => {
    for (const unit of ['a', ' ', '_', '漢', '😀'])
      expect(streamPieces(unit.repeat(500_000)).length).toBeGreaterThan(1_000);
  });
});

describe('pseudoText()', () => {
  it('has so many words, the same for the same seed, and multi-byte ones among them', () => {
    const text = pseudoText(new SeededRandom(1), 300);
    expect(text.split(' ')).toHaveLength(300);
    expect(pseudoText(new SeededRandom(1), 300)).toBe(text);
    expect(pseudoText(new SeededRandom(2), 300)).not.toBe(text);
    expect(Buffer.byteLength(text)).toBeGreaterThan(text.length);
  });
});
