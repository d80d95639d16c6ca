import type { JsonObject } from '../request/json.checks.js';
import type { SeededRandom } from './seeded.random.js';

const WORDS = ['amber', 'birch', 'cedar', 'delta', 'ember', 'fjord', 'grove', 'haven', 'island', 'juniper'] as const;
const MAX_CHARS = 10_000;

const BY_FORMAT: ReadonlyMap<unknown, string> = new Map([
  ['date-time', '2026-03-14T15:09:26Z'],
  ['date', '2026-03-14'],
  ['time', '15:09:26Z'],
  ['duration', 'PT15M'],
  ['email', 'ada@example.com'],
  ['hostname', 'example.com'],
  ['ipv4', '192.0.2.1'],
  ['ipv6', '2001:db8::1'],
  ['uuid', '6f1f6bd0-1f5c-4b52-9a3e-0c5f3a1d2b4c'],
  ['uri', 'https://example.com/'],
  ['url', 'https://example.com/'],
]);

/** Tried against a `pattern`. */
const CANDIDATES = 'a A abc ABC Abc 0 1 12 123 1234 12345 1.0 1.0.0 a-b a_b #aabbcc +15550100 12:30 AB123 AB-123'.split(
  ' ',
);

/** A string within minLength and maxLength, of the format, or matching the pattern where one of a few candidates does. */
export function sampleString(schema: JsonObject, random: SeededRandom): string {
  const { format, pattern } = schema;
  const formatted = BY_FORMAT.get(format);
  if (formatted !== undefined) {
    return formatted;
  }
  const text = fitted(`${random.pick(WORDS)} ${random.pick(WORDS)}`, schema);
  return typeof pattern === 'string' ? matching(pattern, [text, ...CANDIDATES]) : text;
}

function fitted(text: string, schema: JsonObject): string {
  const least = Math.min(typeof schema['minLength'] === 'number' ? schema['minLength'] : 0, MAX_CHARS);
  const most = typeof schema['maxLength'] === 'number' ? schema['maxLength'] : MAX_CHARS;
  return text.padEnd(least, 'x').slice(0, Math.max(most, 0));
}

// The candidates are short, so that no pattern can take exponential time.
function matching(pattern: string, candidates: readonly string[]): string {
  try {
    const expression = new RegExp(pattern, 'u');
    return candidates.find((each) => expression.test(each)) ?? candidates[0] ?? '';
  } catch {
    // Not an ECMAScript pattern: it constrains nothing here.
    return candidates[0] ?? '';
  }
}

/** A number within the bounds and, if asked for, a multiple. */
export function sampleNumber(schema: JsonObject, isWhole: boolean, random: SeededRandom): number {
  const step = Math.abs(numberIn(schema, 'multipleOf') ?? 0) || (isWhole ? 1 : 0.5);
  const { low, high } = boundsOf(schema, step);
  const first = Math.ceil(low / step) + (isExcluded(low, step, schema['exclusiveMinimum']) ? 1 : 0);
  const last = Math.floor(high / step) - (isExcluded(high, step, schema['exclusiveMaximum']) ? 1 : 0);
  return last < first ? (low + high) / 2 : tidy(random.integer(first, Math.min(last, first + 100)) * step);
}

function boundsOf(schema: JsonObject, step: number): { low: number; high: number } {
  const given = numberIn(schema, 'maximum') ?? numberIn(schema, 'exclusiveMaximum');
  const low =
    numberIn(schema, 'minimum') ??
    numberIn(schema, 'exclusiveMinimum') ??
    (given === undefined || given > 0 ? 0 : given - 10 * step);
  return { low, high: given ?? low + 100 * step };
}

function isExcluded(bound: number, step: number, exclusive: unknown): boolean {
  return bound === exclusive && Number.isInteger(bound / step);
}

function numberIn(schema: JsonObject, key: string): number | undefined {
  const value = schema[key];
  return typeof value === 'number' ? value : undefined;
}

// 3 × 0.1 is 0.30000000000000004 in binary.
function tidy(value: number): number {
  return Number(value.toPrecision(12));
}
