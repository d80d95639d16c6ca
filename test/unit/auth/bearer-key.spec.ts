import { describe, expect, it } from '@jest/globals';
import { MAX_BEARER_LENGTH, readBearerKey } from '../../../src/auth/bearer-key.js';

describe('readBearerKey()', () => {
  it.each(['Bearer k-1', 'bearer k-1', 'BEARER   k-1', 'Bearer k-1  '])('reads the key of "%s"', (value) => {
    expect(readBearerKey(['Host', 'a', 'Authorization', value])).toBe('k-1');
  });

  it('reads the header in any case', () => {
    expect(readBearerKey(['aUTHORIZATION', 'Bearer k-1'])).toBe('k-1');
  });

  it.each(['', 'Bearer', 'Bearer ', 'k-1', 'Basic azE6', 'Bearer two words', 'Bearerk-1', 'Token k-1'])(
    'finds no key in "%s"',
    (value) => {
      expect(readBearerKey(['authorization', value])).toBeUndefined();
    },
  );

  it('finds no key where there is no header', () => {
    expect(readBearerKey([])).toBeUndefined();
    expect(readBearerKey(['x-api-key', 'k-1', 'api-key', 'k-1'])).toBeUndefined();
  });

  it('takes neither of two headers', () => {
    expect(readBearerKey(['authorization', 'Bearer k-1', 'Authorization', 'Bearer k-1'])).toBeUndefined();
  });

  it('takes a key of the greatest length and none that is longer', () => {
    expect(readBearerKey(['authorization', `Bearer ${'k'.repeat(MAX_BEARER_LENGTH)}`])).toHaveLength(MAX_BEARER_LENGTH);
    expect(readBearerKey(['authorization', `Bearer ${'k'.repeat(MAX_BEARER_LENGTH + 1)}`])).toBeUndefined();
  });

  it('reads a header of hostile length in time that grows with it, not with its square', () => {
    expect(readBearerKey(['authorization', `Bearer ${' '.repeat(1_000_000)}`])).toBeUndefined();
    expect(readBearerKey(['authorization', `Bearer k${' '.repeat(1_000_000)}x`])).toBeUndefined();
  });
});
