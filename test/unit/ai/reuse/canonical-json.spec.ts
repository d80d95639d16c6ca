import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { canonicalJson } from '../../../../src/ai/reuse/digest/canonical-json.js';
import { canonicalNumber } from '../../../../src/ai/reuse/digest/canonical-number.js';
import { sized } from '../../../support/proof-scale.js';

const RUNS = sized(300, 20_000);

/** A value, written in one of the many ways that JSON allows. */
function written(value: unknown, pick: () => number): string {
  const blank = [' ', '\n\t', '', ''][pick() % 4] ?? '';
  return `${blank}${writtenBare(value, pick)}${blank}`;
}

function writtenBare(value: unknown, pick: () => number): string {
  if (typeof value === 'string') return writtenString(value, pick);
  if (typeof value === 'number') return writtenNumber(value, pick);
  if (Array.isArray(value)) return `[${value.map((item) => written(item, pick)).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value).map(([name, item]) => `${written(name, pick)}:${written(item, pick)}`);
  return `{${shuffled(members, pick).join(',')}}`;
}

function writtenString(text: string, pick: () => number): string {
  const units = Array.from({ length: text.length }, (_, at) => {
    const escape = `\\u${text.charCodeAt(at).toString(16).padStart(4, '0')}`;
    return pick() % 3 === 0 ? escape : JSON.stringify(text.charAt(at)).slice(1, -1);
  });
  return `"${units.join('')}"`;
}

function writtenNumber(value: number, pick: () => number): string {
  const plain = JSON.stringify(value);
  if (!/^-?\d+$/.test(plain)) return plain;
  return [plain, `${plain}.0`, `${plain}e0`, `${plain}0E-1`, `${plain}.00e+0`][pick() % 5] ?? plain;
}

function shuffled(items: readonly string[], pick: () => number): readonly string[] {
  return items
    .map((item) => ({ item, at: pick() }))
    .sort((one, other) => one.at - other.at)
    .map(({ item }) => item);
}

const values = fc.jsonValue({ maxDepth: 4 }).map((value) => JSON.parse(JSON.stringify(value)) as unknown);
const picks = fc.array(fc.nat(1_000), { minLength: 40, maxLength: 40, size: 'max' });

function picker(numbers: readonly number[]): () => number {
  let at = 0;
  return () => numbers[(at += 1) % numbers.length] ?? 0;
}

/** Equal as JSON values. */
function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(sorted(one)) === JSON.stringify(sorted(other));
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).sort(([name], [other]) => (name < other ? -1 : 1));
  return { members: members.map(([name, item]) => [name, sorted(item)]) };
}

describe('canonicalJson()', () => {
  it('is one text for all ways to write a value, and says what they say', () => {
    fc.assert(
      fc.property(values, picks, picks, (value, one, other) => {
        const canonical = canonicalJson(written(value, picker(one)));
        expect(canonicalJson(written(value, picker(other)))).toBe(canonical);
        expect(canonicalJson(canonical)).toBe(canonical);
        expect(isSame(JSON.parse(canonical), value)).toBe(true);
      }),
      { numRuns: RUNS },
    );
  });

  it('is another text for every other value', () => {
    fc.assert(
      fc.property(values, values, (one, other) => {
        const isEqual = canonicalJson(JSON.stringify(one)) === canonicalJson(JSON.stringify(other));
        expect(isEqual).toBe(isSame(one, other));
      }),
      { numRuns: RUNS },
    );
  });

  it('leaves out members of the outermost object only, however their names are written', () => {
    const without = new Set(['user']);
    expect(canonicalJson('{"b":{"user":1},"us\\u0065r":"u","a":[],"user":[{}]}', without)).toBe(
      '{"a":[],"b":{"user":1e0}}',
    );
  });

  it('keeps all members of one name in their order, since parsers differ in which they keep', () => {
    const texts = ['{"a":1,"a":2}', '{"a":2,"a":1}', '{"a":2}'];
    expect(new Set(texts.map((text) => canonicalJson(text))).size).toBe(3);
  });

  it.each(['{}', '[]', '{ }', '[ ]', '""', '"\\""', '"\\\\"', 'true', 'null', '[[],{}]', '{"__proto__":1}'])(
    'reads %s',
    (text) => {
      expect(JSON.parse(canonicalJson(text))).toEqual(JSON.parse(text));
    },
  );
});

describe('canonicalNumber()', () => {
  it.each([
    ['0', ['0', '-0', '0.000', '0e99', '-0.0E-7']],
    ['1e2', ['100', '1e2', '1E+2', '100.0', '0.1e3', '1000e-1']],
    ['-15e-1', ['-1.5', '-15e-1', '-1.50', '-0.15e1']],
    ['9007199254740993e0', ['9007199254740993', '9007199254740993.0', '900719925474099.3e1']],
  ])('writes %s for all its forms', (canonical, forms) => {
    expect(forms.map(canonicalNumber)).toEqual(forms.map(() => canonical));
  });

  it('rounds nothing', () => {
    const numbers = ['9007199254740992', '9007199254740993', '0.1', '0.10000000000000001', '1e400', '1e401', '1e-400'];
    expect(new Set(numbers.map(canonicalNumber)).size).toBe(numbers.length);
  });

  it('reads numbers of a million digits as fast as they come', () => {
    const zeros = '0'.repeat(1_000_000);
    expect(canonicalNumber(`1${zeros}1`)).toBe(`1${zeros}1e0`);
    expect(canonicalNumber(`0.${zeros}1${zeros}`)).toBe('1e-1000001');
    expect(canonicalNumber(`1e${zeros}1`)).toBe(`1e${zeros}1`);
  });
});
