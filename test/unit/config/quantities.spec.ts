import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { parseByteSize } from '../../../src/config/byte-size.js';
import { ValueError } from '../../../src/config/configuration-error.js';
import { LONGEST_DURATION_MS, formatDuration, parseDuration } from '../../../src/config/duration.js';
import { formatDay, parseInstant } from '../../../src/config/instant.js';
import { sized } from '../../support/proof-scale.js';

const numRuns = sized(200, 20_000);

describe('parseDuration()', () => {
  it.each([
    ['20s', 20_000],
    ['300ms', 300],
    ['2m', 120_000],
    ['1h', 3_600_000],
    ['1d', 86_400_000],
    ['1.5s', 1_500],
    ['2.3s', 2_300],
    [' 5s ', 5_000],
    ['250', 250],
    [250, 250],
    [0, 0],
  ])('reads %j as %d ms', (value, ms) => {
    expect(parseDuration(value)).toBe(ms);
  });

  it.each([
    '',
    's',
    '20 sec',
    '-1s',
    '1e3',
    '20S',
    '1m30s',
    '0.5ms',
    '0x10',
    'Infinity',
    '99999999999s',
    NaN,
    Infinity,
    -1,
    0.5,
    1e21,
    null,
    true,
    {},
    [],
  ])('refuses %j', (value) => {
    expect(() => parseDuration(value)).toThrow(ValueError);
  });

  it('refuses what no timer can wait for', () => {
    expect(parseDuration(LONGEST_DURATION_MS)).toBe(LONGEST_DURATION_MS);
    expect(() => parseDuration('25d')).toThrow(/from 0ms to 2147483647ms/);
  });

  it('names the bounds in their own words', () => {
    expect(() => parseDuration('1ms', 1_000, 60_000)).toThrow('must be a duration from 1s to 1m');
  });

  it('reads back whatever formatDuration() writes', () => {
    fc.assert(
      fc.property(fc.nat(LONGEST_DURATION_MS), (ms) => {
        expect(parseDuration(formatDuration(ms))).toBe(ms);
      }),
      { numRuns },
    );
  });

  it('answers a whole number of the range or refuses, for any text', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.stringMatching(/^\d{1,12}(\.\d{1,4})?(ms|s|m|h|d)?$/)), (text) => {
        try {
          const ms = parseDuration(text);
          expect(Number.isInteger(ms) && ms >= 0 && ms <= LONGEST_DURATION_MS).toBe(true);
        } catch (error) {
          expect(error).toBeInstanceOf(ValueError);
        }
      }),
      { numRuns },
    );
  });
});

describe('parseByteSize()', () => {
  it.each([
    ['32mb', 33_554_432],
    ['512KB', 524_288],
    ['1 gb', 1_073_741_824],
    ['1048576', 1_048_576],
  ])('reads %s', (text, bytes) => {
    expect(parseByteSize(text)).toBe(bytes);
  });

  it.each(['', '0', '-1mb', '1.5mb', '2gb', '10', 'mb', '1tb', '1e6'])('refuses %j', (text) => {
    expect(() => parseByteSize(text)).toThrow(ValueError);
  });
});

describe('parseInstant()', () => {
  it.each([
    ['2027-01-14', '2027-01-14T00:00:00.000Z'],
    ['2027-01-14T09:30:00Z', '2027-01-14T09:30:00.000Z'],
    ['2027-01-14T09:30', '2027-01-14T09:30:00.000Z'],
    ['2027-01-14t09:30:00.25+02:00', '2027-01-14T07:30:00.250Z'],
    ['2027-01-14 09:30:00 -0500', '2027-01-14T14:30:00.000Z'],
    ['2028-02-29', '2028-02-29T00:00:00.000Z'],
  ])('reads %s', (text, iso) => {
    expect(new Date(parseInstant(text)).toISOString()).toBe(iso);
  });

  it.each([
    '',
    'soon',
    '2027-02-29',
    '2027-02-30',
    '2027-13-01',
    '2027-1-4',
    '14.01.2027',
    '2027-01-14T25:00',
    '2027-01-14Tx',
    '2027-01-14 ,',
    '2027-01-14T',
    20_270_114,
    null,
  ])('refuses %j', (value) => {
    expect(() => parseInstant(value)).toThrow(ValueError);
  });

  it('reads back every day that formatDay() writes', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 40_000 }), (days) => {
        expect(parseInstant(formatDay(days * 86_400_000))).toBe(days * 86_400_000);
      }),
      { numRuns },
    );
  });
});
