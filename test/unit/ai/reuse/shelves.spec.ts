import { describe, expect, it } from '@jest/globals';
import { Shelves } from '../../../../src/ai/reuse/shelves.js';

const MIB = 1_024 * 1_024;

describe('Shelves', () => {
  it.each([
    [256 * MIB, MIB, 16, 8 * MIB],
    [16 * MIB, MIB, 2, 4 * MIB],
    [MIB, MIB, 1, MIB / 2],
  ])(
    'have room for the largest answers, and are never more than both halves: %d bytes in all',
    (maxBytes, maxEntryBytes, count, bytes) => {
      const shelves = new Shelves({ maxBytes, maxEntryBytes, idempotencyMs: 1 });
      const digests = Array.from({ length: 2_000 }, (_each, index) =>
        (index * 2_654_435_761).toString(16).padStart(64, '0'),
      );
      for (const shelfOf of [shelves.cacheOf.bind(shelves), shelves.keysOf.bind(shelves)]) {
        const found = digests.map((digest) => shelfOf(digest.slice(-8)));
        expect(new Set(found.map(({ shelf }) => shelf)).size).toBe(count);
        expect(found.every(({ shelfBytes }) => shelfBytes === bytes)).toBe(true);
      }
      expect(2 * count * bytes).toBeLessThanOrEqual(maxBytes);
    },
  );

  it('of the cache and of keys are apart', () => {
    const shelves = new Shelves({ maxBytes: MIB, maxEntryBytes: 1_024, idempotencyMs: 1 });
    expect(shelves.cacheOf('00').shelf).not.toBe(shelves.keysOf('00').shelf);
  });
});
