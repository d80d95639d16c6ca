import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { jsonFaultAt } from '../../../src/http/json-fault.js';
import { isNestedDeeper } from '../../../src/http/json-depth.js';
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
      expect([text, jsonFaultAt(text)]).toEqual([text, { at, isFound: true }]);
    }
  });

  it('does not recurse, and gives up when it has looked at enough', () => {
    const text = '['.repeat(1_000_000);
    expect(jsonFaultAt(text, 2_000_000)).toEqual({ at: 1_000_000, isFound: true });
    expect(jsonFaultAt(text, 1_000)).toEqual({ at: 1_000, isFound: false });
    expect(jsonFaultAt(text)?.isFound).toBe(false);
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

  it('counts no bracket that stands in a string, however its quotes are escaped', () => {
    const unit = fc.constantFrom('[', '{', ']', '}', '"', '\\', 'x', 'é');
    fc.assert(
      fc.property(fc.string({ unit, minLength: 300, maxLength: 600 }), fc.nat({ max: 200 }), (text, levels) => {
        const json =
          '['.repeat(levels) +
          JSON.stringify({ [text]: text })
            .slice(1, -1)
            .replace(':', ',') +
          ']'.repeat(levels);
        expect(isNestedDeeper(json, levels)).toBe(false);
        if (levels > 0) expect(isNestedDeeper(json, levels - 1)).toBe(true);
      }),
      { numRuns: sized(300, 5_000) },
    );
  });

  it('agrees on the depth with a walk through the value', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 8 }), fc.integer({ min: 1, max: 6 }), (json, limit) => {
        const text = json + ' '.repeat(20);
        expect(isNestedDeeper(text, limit)).toBe(depthOf(JSON.parse(json)) > limit);
      }),
      { numRuns: sized(1_000, 20_000) },
    );
  });

  it.each([
    ['millions of containers', `[${'{},'.repeat(3_000_000)}{}]`, undefined],
    ['millions of containers and a fault', `[${'{},'.repeat(3_000_000)}{}`, 'somewhere behind position'],
    ['containers that never end', '['.repeat(9_000_000), 'deeper than 200 levels'],
    ['strings that never end', `["${'\\"'.repeat(4_000_000)}`, 'it ends too early'],
    ['a string of backslashes', `"${'\\'.repeat(9_000_001)}"`, 'it ends too early'],
    ['lines', `[${'\n'.repeat(9_000_000)}x]`, 'line 9000001, column 1)'],
    ['numbers and a fault', `[${'1,'.repeat(4_000_000)}x]`, 'somewhere behind position'],
  ])('gives up or comes to its end in one pass over %s', (_name, text, message) => {
    const body = Buffer.from(text);
    if (message === undefined) expect(parseJsonBody(body).text).toBe(text);
    else expect(() => parseJsonBody(body)).toThrow(message);
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

function depthOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(depthOf));
}
