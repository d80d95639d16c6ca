import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { durationMs, parseRateLimits } from '../../../../src/ai/fleet/rate-limit.headers.js';

const NOW = Date.parse('2026-03-01T12:00:00Z');

describe('durationMs()', () => {
  it.each([
    ['6ms', 6],
    ['1m12s', 72_000],
    ['1.5s', 1_500],
    ['8.64s', 8_640],
    ['2m59.56s', 179_560],
    ['1h0m0s', 3_600_000],
    ['1d2h', 93_600_000],
    ['0s', 0],
    ['250µs', 1],
    ['7us3ns', 1],
  ])('reads %s', (text, ms) => {
    expect(durationMs(text)).toBe(ms);
  });

  it.each(['', 's', '5', '1m 2s', '-1s', '1x', '1ss', 'm1', '1.s', '.5s', '1e3s', 'Infinitys', '1m12'])(
    'reads nothing in %j',
    (text) => {
      expect(durationMs(text)).toBeUndefined();
    },
  );

  it('reads every duration that Go writes, to the millisecond', () => {
    const part = fc.nat({ max: 59 });
    fc.assert(
      fc.property(fc.nat({ max: 700 }), part, part, fc.nat({ max: 999 }), (hours, minutes, seconds, millis) => {
        const text = `${hours > 0 ? `${hours}h` : ''}${minutes}m${(seconds + millis / 1_000).toFixed(3)}s`;
        const exact = hours * 3_600_000 + minutes * 60_000 + seconds * 1_000 + millis;
        const read = durationMs(text) ?? Number.NaN;
        expect([exact, exact + 1]).toContain(read);
      }),
    );
  });

  it('never throws, and never answers anything but whole milliseconds', () => {
    const text = fc.oneof(fc.string(), fc.stringMatching(/^(\d{1,30}(\.\d{1,9})?(d|h|m|s|ms|us|ns|x)){1,8}$/));
    fc.assert(
      fc.property(text, (value) => {
        const read = durationMs(value);
        expect(read === undefined || (Number.isInteger(read) && read >= 0)).toBe(true);
      }),
    );
  });
});

describe('parseRateLimits()', () => {
  it("reads OpenAI's headers", () => {
    const headers = {
      'x-ratelimit-limit-requests': '500',
      'x-ratelimit-remaining-requests': '499',
      'x-ratelimit-reset-requests': '120ms',
      'x-ratelimit-limit-tokens': '30000',
      'x-ratelimit-remaining-tokens': '0',
      'x-ratelimit-reset-tokens': '1m0s',
    };
    expect(parseRateLimits(headers, NOW)).toEqual([
      { unit: 'requests', limit: 500, remaining: 499, resetAt: NOW + 120 },
      { unit: 'tokens', limit: 30_000, remaining: 0, resetAt: NOW + 60_000 },
    ]);
  });

  it("reads Anthropic's headers", () => {
    const family = (name: string, remaining: string, reset: string) => ({
      [`anthropic-ratelimit-${name}-limit`]: '1000',
      [`anthropic-ratelimit-${name}-remaining`]: remaining,
      [`anthropic-ratelimit-${name}-reset`]: reset,
    });
    const headers = {
      ...family('requests', '12', '2026-03-01T12:00:05Z'),
      ...family('tokens', '900', '2026-03-01T13:00:30.5+01:00'),
      ...family('input-tokens', '7', '2026-03-01T11:59:00Z'),
      ...family('output-tokens', '8', '2026-03-01T12:01:00Z'),
    };
    expect(parseRateLimits(headers, NOW)).toEqual([
      { unit: 'requests', limit: 1_000, remaining: 12, resetAt: NOW + 5_000 },
      { unit: 'tokens', limit: 1_000, remaining: 900, resetAt: NOW + 30_500 },
      { unit: 'input-tokens', limit: 1_000, remaining: 7, resetAt: NOW - 60_000 },
      { unit: 'output-tokens', limit: 1_000, remaining: 8, resetAt: NOW + 60_000 },
    ]);
  });

  const reset = (value: string | string[], rest: Record<string, string> = {}): number | undefined =>
    parseRateLimits({ 'x-ratelimit-remaining-requests': '1', 'x-ratelimit-reset-requests': value, ...rest }, NOW)[0]
      ?.resetAt;

  it('takes a plain number for seconds, and a large one for an instant', () => {
    expect(reset('10')).toBe(NOW + 10_000);
    expect(reset('0.25')).toBe(NOW + 250);
    expect(reset(String(NOW / 1_000 + 30))).toBe(NOW + 30_000);
    expect(reset(String(NOW + 45_000))).toBe(NOW + 45_000);
  });

  it("brings instants of the provider's clock to ours", () => {
    const wrong = { date: 'Sun, 01 Mar 2026 11:50:00 GMT' };
    expect(reset('2026-03-01T11:50:05Z', wrong)).toBe(NOW + 5_000);
    expect(reset('5s', wrong)).toBe(NOW + 5_000);
    expect(reset('2026-03-01T12:00:05Z', { date: 'Sun, 01 Mar 2026 11:59:59 GMT' })).toBe(NOW + 5_000);
    expect(reset('2026-03-01T12:00:05Z', { date: 'yesterday' })).toBe(NOW + 5_000);
  });

  it('takes the first of several values', () => {
    expect(reset(['3s', '9s'])).toBe(NOW + 3_000);
  });

  it.each([
    [{ 'x-ratelimit-remaining-requests': '1' }],
    [{ 'x-ratelimit-reset-requests': '1s' }],
    [{ 'x-ratelimit-remaining-requests': 'many', 'x-ratelimit-reset-requests': '1s' }],
    [{ 'x-ratelimit-remaining-requests': '-1', 'x-ratelimit-reset-requests': '1s' }],
    [{ 'x-ratelimit-remaining-requests': '1', 'x-ratelimit-reset-requests': 'soon' }],
    [{ 'x-ratelimit-remaining-requests': '1', 'x-ratelimit-reset-requests': '2026-13-45T99:00Z' }],
    [{ 'x-ratelimit-remaining-requests': '1', 'x-ratelimit-reset-requests': '800d' }],
    [{}],
  ])('leaves out what makes no sense: %j', (headers) => {
    expect(parseRateLimits(headers, NOW)).toEqual([]);
  });

  it('never throws, whatever the headers are', () => {
    const name = fc.constantFrom(
      ...['limit', 'remaining', 'reset'].flatMap((part) => [
        `x-ratelimit-${part}-requests`,
        `x-ratelimit-${part}-tokens`,
        `anthropic-ratelimit-input-tokens-${part}`,
      ]),
      'date',
    );
    const value = fc.oneof(
      fc.string(),
      fc.nat().map(String),
      fc.double().map(String),
      fc.date().map(String),
      fc.date({ noInvalidDate: true }).map((date) => date.toISOString()),
      fc.array(fc.string(), { maxLength: 2 }),
    );
    fc.assert(
      fc.property(fc.dictionary(name, value), (headers) => {
        for (const { limit = 0, remaining, resetAt } of parseRateLimits(headers, NOW)) {
          for (const number of [limit, remaining, resetAt]) expect(Number.isSafeInteger(number)).toBe(true);
          expect(remaining).toBeGreaterThanOrEqual(0);
          expect(resetAt).toBeLessThanOrEqual(NOW + 31 * 86_400_000);
        }
      }),
    );
  });
});
