import { parseByteSize } from '../byte-size.js';
import { refusalOf } from '../configuration-error.js';
import { parseDuration } from '../duration.js';
import { parseInstant } from '../instant.js';
import type { Check } from './shape.js';

/** Limits are counted in 32-bit numbers by the store's scripts. */
export const LARGEST_COUNT = 2_147_483_647;

/** Text on one line, 1 to 256 characters. */
export const text: Check = (value) => {
  if (typeof value === 'number' || typeof value === 'boolean') return 'must be text: put it in quotes';
  if (typeof value !== 'string' || value.trim() === '') return 'must be text';
  return value.length > 256 || /\p{Cc}/u.test(value) ? 'must be text on one line of at most 256 characters' : undefined;
};

/** Text of a certain form. */
export function textLike(form: RegExp, what: string): Check {
  return (value) => text(value) ?? (form.test(String(value)) ? undefined : `must be ${what}`);
}

/** A model's name or alias: it stands in URLs, headers and metrics. */
export const modelName = textLike(/^[A-Za-z0-9][\w.:/@-]{0,127}$/, 'a name of letters, digits and . _ - : / @');

/** A regular expression. */
export const pattern: Check = (value) => {
  const fault = text(value);
  if (fault !== undefined) return fault;
  try {
    new RegExp(String(value), 'i');
    return undefined;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return `must be a regular expression: ${error.message}`;
  }
};

/** One of a few words. */
export function oneOf(words: readonly string[]): Check {
  return (value) => (words.some((word) => word === value) ? undefined : `must be one of ${words.join(', ')}`);
}

/** True or false. */
export const toggle: Check = (value) => {
  if (typeof value === 'boolean') return undefined;
  // YAML 1.2 has no other words for it; 1.1 had.
  return typeof value === 'string' && /^(yes|no|on|off)$/i.test(value)
    ? 'must be true or false (yes, no, on and off are text)'
    : 'must be true or false';
};

/** A number above 0, at most `most`. */
export function positive(most = 1_000_000): Check {
  return (value) =>
    number(value, 'must be a positive number') ??
    (Number(value) > 0 ? atMost(value, most) : 'must be a positive number');
}

/** A number of 0 or more, at most `most`. */
export function zeroOrMore(most = 1_000_000): Check {
  return (value) =>
    number(value, 'must be 0 or a positive number') ??
    (Number(value) >= 0 ? atMost(value, most) : 'must be 0 or a positive number');
}

/** A whole number of 0 or more, as exact as numbers are. */
export const wholeOrZero: Check = (value) =>
  zeroOrMore(Number.MAX_SAFE_INTEGER)(value) ?? (Number.isInteger(value) ? undefined : 'must be a whole number');

/** A whole number above 0, at most `most`. */
export function countUpTo(most: number): Check {
  return (value) => positive(most)(value) ?? (Number.isInteger(value) ? undefined : 'must be a whole number');
}

/** A whole number above 0. */
export const count: Check = countUpTo(LARGEST_COUNT);

/** A duration of `[leastMs, mostMs]`. */
export function duration(leastMs: number, mostMs: number): Check {
  return (value) => refusalOf(() => parseDuration(value, leastMs, mostMs));
}

/** A number of bytes, or one with its unit. */
export const byteSize: Check = (value) => refusalOf(() => parseByteSize(String(value)));

/** A date or a point in time. */
export const instant: Check = (value) => refusalOf(() => parseInstant(value));

/** A date, a point in time, or Unix seconds. */
export const instantOrSeconds: Check = (value) => (typeof value === 'number' ? seconds(value) : instant(value));

const seconds: Check = (value) =>
  zeroOrMore(100_000_000_000)(value) ?? (Number.isInteger(value) ? undefined : 'must be a whole number');

/** A list whose every item passes. */
export function listOf(check: Check): Check {
  return (value) => {
    if (!Array.isArray(value)) return 'must be a list';
    const faults = value.flatMap((item: unknown, index) => {
      const fault = item === undefined || item === null ? 'must not be empty' : check(item);
      return fault === undefined ? [] : [`[${String(index)}]: ${fault}`];
    });
    return faults.length === 0 ? undefined : faults.join('\n');
  };
}

function number(value: unknown, otherwise: string): string | undefined {
  if (typeof value === 'number' && Number.isFinite(value)) return undefined;
  const isQuoted = typeof value === 'string' && value.trim() !== '' && Number.isFinite(Number(value));
  return isQuoted ? `${otherwise}, without quotes` : otherwise;
}

function atMost(value: unknown, most: number): string | undefined {
  return Number(value) > most ? `must be at most ${String(most)}` : undefined;
}
