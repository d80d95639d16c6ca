import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { CountedPart } from '../../../src/tokens/counted.part.js';
import { BATCH_CHARS, pieceBatches } from '../../../src/tokens/piece.batches.js';
import { PROMPT_FORMATS } from '../../../src/tokens/prompt.format.js';
import { requestParts } from '../../../src/tokens/request.parts.js';
import { MAX_PIECE_CHARS } from '../../../src/tokens/text.pieces.js';

const MAX_PARTS = BATCH_CHARS / 16;

describe('pieceBatches()', () => {
  it('holds all of the text in order, and all that is known', () => {
    const part: fc.Arbitrary<CountedPart> = fc.oneof(
      fc.string({ unit: 'binary' }).map((text) => text.repeat(100)),
      fc.record({ overhead: fc.nat(9), attachment: fc.nat(9) }),
    );
    fc.assert(
      fc.property(fc.array(part), (parts) => {
        const batches = [...pieceBatches(parts)];
        const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
        expect(batches.flatMap((batch) => batch.pieces).join('')).toBe(
          parts.filter((each) => typeof each === 'string').join(''),
        );
        for (const key of ['overhead', 'attachment'] as const) {
          const given = parts.map((each) => (typeof each === 'string' ? 0 : each[key]));
          expect(sum(batches.map((batch) => batch[key]))).toBe(sum(given));
        }
      }),
    );
  });

  it.each([
    ['one long text', () => ['a'.repeat(1_000_000)]],
    ['many short texts', () => Array.from({ length: 100_000 }, () => 'a')],
    ['many empty texts', () => Array.from({ length: 100_000 }, () => '')],
    ['many parts without text', () => Array.from({ length: 100_000 }, () => ({ overhead: 1, attachment: 0 }))],
  ])('does a bounded piece of work for a batch of %s', (_, makeParts) => {
    let seen = 0;
    const watched = function* (): Generator<CountedPart> {
      for (const part of makeParts()) {
        seen += 1;
        yield part;
      }
    };
    let batches = 0;
    for (const batch of pieceBatches(watched())) {
      batches += 1;
      expect(batch.pieces.join('').length).toBeLessThan(BATCH_CHARS + MAX_PIECE_CHARS);
      expect(seen).toBeLessThanOrEqual(MAX_PARTS);
      seen = 0;
    }
    expect(batches).toBeGreaterThan(50);
  });

  it('looks at no more of a huge schema than a batch needs', () => {
    let looked = 0;
    const items = Array.from({ length: 100_000 }, (_, index) =>
      Object.defineProperty({}, 'name', { enumerable: true, get: () => (looked += 1) + index }),
    );
    const parts = requestParts({ tools: [{ function: { items } }] }, PROMPT_FORMATS.o200k);
    pieceBatches(parts).next();
    expect(looked).toBeGreaterThan(0);
    expect(looked).toBeLessThan(MAX_PARTS);
  });
});
