import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { jsonFaultAt } from '../../../src/http/json-fault.js';
import { parseJsonBody } from '../../../src/http/json-body.js';
import { sized } from '../../support/proof-scale.js';

const isJson = (text: string): boolean => {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
};

describe('jsonFaultAt()', () => {
  it('agrees with JSON.parse on JSON with one change', () => {
    const change = fc.record({
      at: fc.nat(),
      drop: fc.nat({ max: 2 }),
      insert: fc.constantFrom(
        '',
        '{',
        '}',
        '[',
        ']',
        ',',
        ':',
        '"',
        '\\',
        '0',
        '-',
        '.',
        'e',
        't',
        ' ',
        '\n',
        '\u0001',
        'é',
        '😀',
      ),
    });
    fc.assert(
      fc.property(fc.json({ maxDepth: 4 }), change, (json, { at, drop, insert }) => {
        const place = at % (json.length + 1);
        const text = json.slice(0, place) + insert + json.slice(place + drop);
        expect(jsonFaultAt(text) === undefined).toBe(isJson(text));
      }),
      { numRuns: sized(2_000, 50_000) },
    );
  });

  it('agrees with JSON.parse on strings of JSON’s own characters', () => {
    const text = fc.string({ unit: fc.constantFrom(...Array.from('{}[]:,"\\/ \n0123.-+eEtrufalsn')), maxLength: 12 });
    fc.assert(
      fc.property(text, (candidate) => {
        expect(jsonFaultAt(candidate) === undefined).toBe(isJson(candidate));
      }),
      { numRuns: sized(5_000, 200_000) },
    );
  });

  it('lies in the text, and what stands before it can still become JSON', () => {
    for (const [text, at] of [
      ['{"a":1,}', 7],
      ['[1 2]', 3],
      ['"a\nb"', 2],
      ['"\\x"', 1],
      ['nul', 0],
      ['01', 1],
      ['', 0],
      ['[', 1],
      ['"abc', 4],
    ] as const) {
      expect([text, jsonFaultAt(text)]).toEqual([text, at]);
    }
  });

  it('does not recurse', () => {
    expect(jsonFaultAt('['.repeat(1_000_000))).toBe(1_000_000);
  });
});

describe('parseJsonBody()', () => {
  const parse = (text: string): unknown => parseJsonBody(Buffer.from(text)).value;

  it('gives back any JSON with its exact text', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 5 }), (json) => {
        expect(parseJsonBody(Buffer.from(json))).toEqual({ text: json, value: JSON.parse(json) as unknown });
      }),
      { numRuns: sized(300, 5_000) },
    );
  });

  it('takes 200 levels and no more', () => {
    expect(parse(`${'['.repeat(200)}${']'.repeat(200)}`)).toHaveLength(1);
    expect(() => parse(`${'{"a":'.repeat(201)}1${'}'.repeat(201)}`)).toThrow('deeper than 200 levels');
    expect(() => parse(`[{"a":${'['.repeat(500_000)}${']'.repeat(500_000)}}]`)).toThrow('deeper than 200 levels');
  });

  it('takes a wide value', () => {
    expect(parse(`[${'{},'.repeat(200_000)}{}]`)).toHaveLength(200_001);
  });

  it('makes __proto__ an own member', () => {
    const value = parse('{"__proto__":{"isAdmin":true}}');
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
    expect(Object.hasOwn(value as object, '__proto__')).toBe(true);
    expect((value as { isAdmin?: boolean }).isAdmin).toBeUndefined();
  });
});
