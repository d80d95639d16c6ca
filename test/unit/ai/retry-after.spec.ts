import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { retryAfterMs } from '../../../src/ai/upstream/retry-after.js';

const now = Date.UTC(2026, 10, 29, 12);

describe('retryAfterMs()', () => {
  it.each([
    [{ 'retry-after': '1' }, 1_000],
    [{ 'retry-after': '0' }, 0],
    [{ 'retry-after': '1.5' }, 1_500],
    [{ 'retry-after': '3600' }, 3_600_000],
    [{ 'retry-after': 'Sun, 29 Nov 2026 12:00:07 GMT' }, 7_000],
    [{ 'retry-after': 'Sun, 29 Nov 2026 11:00:00 GMT' }, 0],
    [{ 'retry-after-ms': '20', 'retry-after': '1' }, 20],
    [{ 'x-ms-retry-after-ms': '30' }, 30],
    [{ 'retry-after': ['2', '9'] }, 2_000],
    [{ 'retry-after': ' 2 ' }, 2_000],
  ])('reads %j', (headers, expected) => {
    expect(retryAfterMs(headers, now)).toBe(expected);
  });

  it.each(['-1', 'soon', '', '1e9', '0x10', 'NaN', 'Infinity', 'Sun, 99 Foo', '9'.repeat(400)])(
    'ignores %j',
    (value) => {
      expect(retryAfterMs({ 'retry-after': value }, now)).toBeUndefined();
    },
  );

  it('answers a whole number of milliseconds or nothing, whatever comes', () => {
    fc.assert(
      fc.property(fc.string(), (value) => {
        const wait = retryAfterMs({ 'retry-after': value }, now);
        expect(wait === undefined || (Number.isSafeInteger(wait) && wait >= 0)).toBe(true);
      }),
    );
  });
});
