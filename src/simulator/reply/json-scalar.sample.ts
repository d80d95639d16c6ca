import type { JsonObject } from '../request/json.checks.js';
import type { SeededRandom } from './seeded.random.js';

const WORDS = ['amber', 'birch', 'cedar', 'delta', 'ember', 'fjord', 'grove', 'haven', 'island', 'juniper'] as const;
const MAX_CHARS = 10_000;

const BY_FORMAT: Readonly<Record<string, string>> = {
  'date-time': '2026-03-14T15:09:26Z',
  date: '2026-03-14',
  time: '15:09:26Z',
  duration: 'PT15M',
  email: 'ada@example.com',
  hostname: 'example.com',
  ipv4: '192.0.2.1',
  ipv6: '2001:db8::1',
  uuid: '6f1f6bd0-1f5c-4b52-9a3e-0c5f3a1d2b4c',
  uri: 'https://example.com/',
  url: 'https://example.com/',
};

const CANDIDATES = [
  'a',
  'A',
  'abc',
  'ABC',
  'Abc',
  '0',
  '1',
  '12',
  '123',
  '1234',
  '12345',
  '1.0',
  '1.0.0',
  'a-b',
  'a_b',
  '#aabbcc',
  '+15550100',
  '12:30',
  'AB123',
  'AB-123',
];

/** A string within minLength and maxLength, of the format, or matching the pattern where one of a few candidates does. */
export function sampleString(schema: JsonObject, random: SeededRandom): string {
  const { format, pattern } = schema;
  if (typeof format === 'string' && BY_FORMAT[format] !== undefined) {
    return BY_FORMAT[format];
  }
  const text = fitted(`${random.pick(WORDS)} ${random.pick(WORDS)}`, schema);
  return typeof pattern === 'string' ? matching(pattern, [text, ...CANDIDATES, ...Object.values(BY_FORMAT)]) : text;
}

function fitted(text: string, schema: JsonObject): string {
  const least = Math.min(typeof schema['minLength'] === 'number' ? schema['minLength'] : 0, MAX_CHARS);
  const most = typeof schema['maxLength'] === 'number' ? schema['maxLength'] : MAX_CHARS;
  return text.padEnd(least, 'x').slice(0, Math.max(most, 0));
}

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
  const step = numberIn(schema, 'multipleOf') ?? (isWhole ? 1 : 0.5);
  const inclusiveLow = numberIn(schema, 'minimum');
  const exclusiveLow = numberIn(schema, 'exclusiveMinimum');
  const inclusiveHigh = numberIn(schema, 'maximum');
  const exclusiveHigh = numberIn(schema, 'exclusiveMaximum');
  const low = inclusiveLow ?? exclusiveLow ?? Math.min(0, inclusiveHigh ?? exclusiveHigh ?? 0);
  const high = inclusiveHigh ?? exclusiveHigh ?? low + 100 * step;
  const first = Math.ceil(low / step) + (exclusiveLow !== undefined && low % step === 0 ? 1 : 0);
  const last = Math.floor(high / step) - (exclusiveHigh !== undefined && high % step === 0 ? 1 : 0);
  return last < first ? (low + high) / 2 : tidy(random.integer(first, Math.min(last, first + 100)) * step);
}

function numberIn(schema: JsonObject, key: string): number | undefined {
  const value = schema[key];
  return typeof value === 'number' ? value : undefined;
}

// 3 × 0.1 is 0.30000000000000004 in binary.
function tidy(value: number): number {
  return Number(value.toPrecision(12));
}
