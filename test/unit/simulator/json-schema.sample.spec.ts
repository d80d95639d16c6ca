import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { sampleJson } from '../../../src/simulator/reply/json-schema.sample.js';
import { SeededRandom } from '../../../src/simulator/reply/seeded.random.js';

type Schema = Record<string, unknown>;

const sample = (schema: Schema, seed = 1): unknown => sampleJson(schema, new SeededRandom(seed));

describe('sampleJson()', () => {
  it.each<[string, Schema, (value: unknown) => boolean]>([
    ['a type', { type: 'integer' }, (value) => Number.isInteger(value)],
    ['a boolean', { type: 'boolean' }, (value) => typeof value === 'boolean'],
    ['null', { type: 'null' }, (value) => value === null],
    ['a nullable type', { type: ['null', 'string'] }, (value) => typeof value === 'string'],
    ['const', { const: { a: [1] } }, (value) => JSON.stringify(value) === '{"a":[1]}'],
    ['enum', { enum: ['x', 2] }, (value) => value === 'x' || value === 2],
    ['bounds', { type: 'integer', minimum: 5, maximum: 6 }, (value) => value === 5 || value === 6],
    ['exclusive bounds', { type: 'integer', exclusiveMinimum: 5, exclusiveMaximum: 7 }, (value) => value === 6],
    ['negative bounds', { type: 'number', maximum: -3 }, (value) => Number(value) <= -3],
    [
      'narrow bounds',
      { type: 'number', minimum: 0.1, maximum: 0.2 },
      (value) => Number(value) >= 0.1 && Number(value) <= 0.2,
    ],
    [
      'a multiple',
      { type: 'number', multipleOf: 0.1, minimum: 0.3 },
      (value) => Math.abs((Number(value) * 10) % 1) < 1e-9,
    ],
    ['lengths', { type: 'string', minLength: 40, maxLength: 41 }, (value) => [40, 41].includes(String(value).length)],
    ['no text at all', { type: 'string', maxLength: 0 }, (value) => value === ''],
    ['a format', { type: 'string', format: 'date-time' }, (value) => !Number.isNaN(Date.parse(String(value)))],
    ['a pattern', { type: 'string', pattern: '^\\d{3}$' }, (value) => /^\d{3}$/.test(String(value))],
    ['a format called constructor', { type: 'string', format: 'constructor' }, (value) => typeof value === 'string'],
    [
      'item counts',
      { type: 'array', items: { type: 'boolean' }, minItems: 3, maxItems: 3 },
      (value) => Array.isArray(value) && value.length === 3,
    ],
    [
      'unique items',
      { type: 'array', items: { enum: [1, 2, 3] }, minItems: 3, uniqueItems: true },
      (value) => new Set(value as number[]).size === 3,
    ],
    [
      'tuples',
      { type: 'array', prefixItems: [{ const: 1 }, { const: 2 }] },
      (value) => JSON.stringify(value) === '[1,2]',
    ],
    ['the first of anyOf', { anyOf: [{ type: 'integer' }, { type: 'string' }] }, (value) => Number.isInteger(value)],
    [
      'allOf together',
      { allOf: [{ properties: { a: { const: 1 } } }, { properties: { b: { const: 2 } } }] },
      (value) => JSON.stringify(value) === '{"a":1,"b":2}',
    ],
    [
      'required beyond properties',
      { type: 'object', required: ['x'] },
      (value) => Object.keys(Object(value) as object).join('') === 'x',
    ],
  ])('meets %s', (_, schema, holds) => {
    for (let seed = 0; seed < 20; seed += 1) {
      const value = sample(schema, seed);
      expect([value, holds(value)]).toEqual([value, true]);
    }
  });

  it('follows references into $defs, with escaped names', () => {
    const schema = {
      type: 'object',
      properties: { a: { $ref: '#/$defs/x~1y%20z' } },
      $defs: { 'x/y z': { const: 'found' } },
    };
    expect(sample(schema)).toEqual({ a: 'found' });
  });

  it('ends recursive schemas with what they allow', () => {
    const node = {
      type: 'object',
      properties: { value: { type: 'integer' }, next: { anyOf: [{ $ref: '#/$defs/node' }, { type: 'null' }] } },
      required: ['value', 'next'],
    };
    let place: unknown = sample({ $ref: '#/$defs/node', $defs: { node } });
    let depth = 0;
    while (typeof place === 'object' && place !== null && 'next' in place) {
      place = place.next;
      depth += 1;
    }
    expect([place, depth > 1]).toEqual([null, true]);
  });

  it.each<[string, Schema]>([
    ['a reference to itself', { $ref: '#' }],
    ['two that name each other', { $ref: '#/a', a: { $ref: '#/b' }, b: { $ref: '#/a' } }],
    ['allOf itself', { allOf: [{ $ref: '#' }] }],
    ['anyOf itself', { anyOf: [{ $ref: '#' }] }],
    ['a hundredfold branching', { type: 'array', minItems: 100, items: { $ref: '#' } }],
    ['an unclosable requirement', { type: 'object', properties: { a: { $ref: '#' } }, required: ['a'] }],
    ['a broken pointer', { $ref: '#/%E0%A4%A/x' }],
    ['a broken pattern', { type: 'string', pattern: '(' }],
  ])('gives something in the end for %s', (_, schema) => {
    expect(JSON.stringify(sample(schema))).toEqual(expect.any(String));
  });

  it('gives the same value for the same seed', () => {
    const schema = { type: 'object', properties: { a: { type: 'string' }, b: { type: 'number' } } };
    expect(sample(schema, 5)).toEqual(sample(schema, 5));
  });

  it('throws on no schema', () => {
    const key = fc.constantFrom(
      'type',
      'properties',
      'items',
      'anyOf',
      'oneOf',
      'allOf',
      '$ref',
      'enum',
      'minItems',
      'maxLength',
      'multipleOf',
    );
    fc.assert(
      fc.property(fc.dictionary(key, fc.oneof(fc.jsonValue(), fc.dictionary(key, fc.jsonValue()))), (schema) => {
        expect(() => JSON.stringify(sample(schema))).not.toThrow();
      }),
      { numRuns: 500 },
    );
  });
});
