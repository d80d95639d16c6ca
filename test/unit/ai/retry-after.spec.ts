import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { LONGEST_RETRY_AFTER_MS, retryAfterMs } from '../../../src/ai/upstream/retry-after.js';
import { sized } from '../../support/proof-scale.js';

const now = Date.UTC(2026, 10, 29, 12);
const DAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'] as const;

/** An HTTP date in its three forms (RFC 9110, 5.6.7), written from the parts of `toUTCString()`. */
const DATES: Readonly<Record<string, (at: Date) => string>> = {
  'IMF-fixdate': (at) => at.toUTCString(),
  'RFC 850': (at) => {
    const [, day, month, year = '', time] = at.toUTCString().split(' ');
    return `${DAYS[at.getUTCDay()]}, ${day}-${month}-${year.slice(2)} ${time} GMT`;
  },
  asctime: (at) => {
    const [weekday = '', day = '', month, year, time] = at.toUTCString().split(' ');
    return `${weekday.slice(0, 3)} ${month} ${day.replace(/^0/, ' ')} ${time} ${year}`;
  },
};

/** The forms that say a wait, each with its unit: how it is written, and what it is precise to. */
const FORMS: readonly { readonly name: string; readonly unitMs: number; readonly write: (units: number) => object }[] =
  [
    { name: 'retry-after-ms', unitMs: 1, write: (ms) => ({ 'retry-after-ms': String(ms) }) },
    { name: 'x-ms-retry-after-ms', unitMs: 1, write: (ms) => ({ 'x-ms-retry-after-ms': String(ms) }) },
    { name: 'seconds', unitMs: 1_000, write: (seconds) => ({ 'retry-after': String(seconds) }) },
    { name: 'thousandths', unitMs: 1, write: (ms) => ({ 'retry-after': (ms / 1_000).toFixed(3) }) },
    ...Object.entries(DATES).map(([name, write]) => ({
      name,
      unitMs: 1_000,
      write: (seconds: number) => ({ 'retry-after': write(new Date(now + seconds * 1_000)) }),
    })),
  ];

const read = (headers: object): number | undefined => retryAfterMs({ ...headers }, now);

describe('retryAfterMs()', () => {
  it.each([
    [{ 'retry-after': '1' }, 1_000],
    [{ 'retry-after': '0' }, 0],
    [{ 'retry-after': '1.5' }, 1_500],
    [{ 'retry-after': '3600' }, 3_600_000],
    [{ 'retry-after': 'Sun, 29 Nov 2026 12:00:07 GMT' }, 7_000],
    [{ 'retry-after': 'Sunday, 29-Nov-26 12:00:07 GMT' }, 7_000],
    [{ 'retry-after': 'Sun Nov 29 12:00:07 2026' }, 7_000],
    [{ 'retry-after': 'Sun, 29 Nov 2026 11:00:00 GMT' }, 0],
    [{ 'retry-after-ms': '20', 'retry-after': '1' }, 20],
    [{ 'x-ms-retry-after-ms': '30' }, 30],
    [{ 'retry-after': ['2', '9'] }, 2_000],
    [{ 'retry-after': ' 2 ' }, 2_000],
  ])('reads %j', (headers, expected) => {
    expect(retryAfterMs(headers, now)).toBe(expected);
  });

  it.each(['-1', 'soon', '', '1e9', '0x10', 'NaN', 'Infinity', 'Sun, 99 Foo', 'Sun, 29 Nov 2026 12:00:07', '-2030'])(
    'ignores %j',
    (value) => {
      expect(retryAfterMs({ 'retry-after': value }, now)).toBeUndefined();
    },
  );

  it.each(['9007199254740993', '9'.repeat(30), '9'.repeat(400), '31536001', 'Fri, 31 Dec 9999 23:59:59 GMT'])(
    'takes %s for the longest wait there is, not for none',
    (value) => {
      expect(retryAfterMs({ 'retry-after': value }, now)).toBe(LONGEST_RETRY_AFTER_MS);
    },
  );

  // Two digits of a year are of this half of the century.
  const units = fc.nat(20 * 365 * 86_400);

  it.each(FORMS)('reads what was written as $name, up to the longest wait', ({ unitMs, write }) => {
    fc.assert(
      fc.property(units, (written) => {
        expect(read(write(written))).toBe(Math.min(written * unitMs, LONGEST_RETRY_AFTER_MS));
      }),
      { numRuns: sized(200, 20_000) },
    );
  });

  it('never reads a longer wait as a shorter one, whatever the forms', () => {
    const written = fc.record({
      form: fc.constantFrom(...FORMS),
      ms: fc.nat(4 * 31_536_000).map((seconds) => seconds * 1_000),
    });
    fc.assert(
      fc.property(written, written, (one, other) => {
        const [shorter, longer] = one.ms <= other.ms ? [one, other] : [other, one];
        const [least = -1, most = -1] = [shorter, longer].map(({ form, ms }) => read(form.write(ms / form.unitMs)));
        expect(least).toBeGreaterThanOrEqual(0);
        expect(least).toBeLessThanOrEqual(most);
      }),
      { numRuns: sized(500, 50_000) },
    );
  });

  it('never reads more digits as a shorter wait', () => {
    const digits = fc.stringMatching(/^[1-9]\d{0,60}$/);
    fc.assert(
      fc.property(digits, fc.constantFrom('0', '5', '99'), (value, more) => {
        const [wait = -1, longer = -1] = [value, value + more].map((text) => read({ 'retry-after': text }));
        expect(wait).toBeGreaterThan(0);
        expect(longer).toBeGreaterThanOrEqual(wait);
      }),
    );
  });

  it('answers whole milliseconds within its bounds or nothing, whatever comes', () => {
    const value = fc.oneof(
      fc.string(),
      fc.double().map(String),
      fc.date().map(String),
      fc.stringMatching(/^[\d.]{1,25}$/),
    );
    fc.assert(
      fc.property(value, (text) => {
        const wait = read({ 'retry-after': text });
        if (wait === undefined) return;
        expect(Number.isSafeInteger(wait)).toBe(true);
        expect(wait).toBeGreaterThanOrEqual(0);
        expect(wait).toBeLessThanOrEqual(LONGEST_RETRY_AFTER_MS);
      }),
    );
  });
});
