import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { sized } from '../../support/proof-scale.js';
import { editObject } from '../../../src/ai/wire/json-text.js';

const objects = fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 4 }), { maxKeys: 8 });
const layouts = fc.constantFrom(undefined, 1, 4, '\t', '\r\n  ');

describe('editObject()', () => {
  it('changes what it is told and nothing else, for any object and layout', () => {
    fc.assert(
      fc.property(objects, fc.jsonValue(), layouts, (object, model, layout) => {
        const text = JSON.stringify(
          object,
          undefined,
          typeof layout === 'string' && layout.startsWith('\r') ? 2 : layout,
        );
        const edited = editObject(text, { model: JSON.stringify(model), gone: undefined });
        const expected = new Map<string, unknown>(Object.entries(JSON.parse(text) as object));
        expected.delete('gone');
        expected.set('model', JSON.parse(JSON.stringify(model)));
        expect(new Map(Object.entries(JSON.parse(edited) as object))).toEqual(expected);
      }),
      { numRuns: sized(500, 20_000) },
    );
  });

  it('leaves the untouched members to the letter: numbers beyond 2^53, exponents, escapes, duplicates', () => {
    const text = '{ "seed": 12345678901234567890, "temperature":1.0E0, "a":"\\u00e9\\/", "d":1, "d":2, "model":"x" }';
    expect(editObject(text, { model: '"y"' })).toBe(
      '{"seed": 12345678901234567890,"temperature":1.0E0,"a":"\\u00e9\\/","d":1,"d":2,"model":"y"}',
    );
  });

  it('finds a member whose name is written with escapes, and every duplicate of it', () => {
    const edited = editObject('{"mod\\u0065l":"a","model":"b","x":"\\\\"}', { model: '"c"' });
    expect(JSON.parse(edited)).toEqual({ model: 'c', x: '\\' });
    expect(edited).not.toContain('"a"');
    expect(edited).not.toContain('"b"');
  });

  it('is not misled by quotes, braces and backslashes inside strings', () => {
    const text = JSON.stringify({ a: '"},{"model":"no"', b: ['\\"', '\\\\', '}{'], model: 'x' });
    expect(JSON.parse(editObject(text, { model: '"y"' }))).toEqual({
      a: '"},{"model":"no"',
      b: ['\\"', '\\\\', '}{'],
      model: 'y',
    });
  });

  it('adds to an empty object', () => {
    expect(editObject(' { } ', { a: '1' })).toBe('{"a":1}');
  });

  it('takes nesting of any depth', () => {
    const deep = `{"a":${'['.repeat(100_000)}${']'.repeat(100_000)},"model":"x"}`;
    expect(editObject(deep, { model: '"y"' })).toBe(deep.replace('"x"', '"y"'));
  });

  it('lets a function see the value that is there, or that none is', () => {
    const seen: (string | undefined)[] = [];
    const edit = (value: string | undefined): string | undefined => {
      seen.push(value);
      return value === undefined ? '1' : undefined;
    };
    expect(editObject('{"a": 2.50}', { a: edit, b: edit })).toBe('{"b":1}');
    expect(seen).toEqual(['2.50', undefined]);
  });
});
