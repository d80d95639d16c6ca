import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { ApiError } from '../../../src/http/index.js';
import { GuardedNames } from '../../../src/ai/wire/guarded.names.js';
import { sized } from '../../support/proof-scale.js';

const NAMES = ['model', 'max_tokens', 'n', 'stream', 'tools'];
/** What ProtoJSON takes for one of them. */
const CAMEL = 'maxTokens';
const guarded = new GuardedNames(NAMES);

/** What Go's encoding/json takes for one name: the class of equal letters that regular expressions with `iu` have too. */
const isLike = (name: string): boolean =>
  name === CAMEL || NAMES.some((known) => new RegExp(`^${known}$`, 'iu').test(name));

/** A name as JSON may write it: any of its characters as an escape. */
const written = (name: string, escapes: readonly boolean[]): string => {
  const units = name.split('').map((unit, at) => {
    const plain = JSON.stringify(unit).slice(1, -1);
    return escapes[at] === true ? `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}` : plain;
  });
  return `"${units.join('')}"`;
};

/** A guarded name with some letters exchanged for others that are read as the same, and names that are none. */
const LETTERS: Readonly<Record<string, string>> = { s: 'ſ', k: '\u212a' };
const variant = fc
  .tuple(fc.constantFrom(...NAMES), fc.array(fc.nat(2), { minLength: 10, maxLength: 10 }))
  .map(([name, ways]) =>
    Array.from(name, (letter, at) => [letter, letter.toUpperCase(), LETTERS[letter] ?? letter][ways[at] ?? 0]).join(''),
  );
const other = fc.oneof(fc.string(), fc.constantFrom('models_', 'maxtokens', 'temperature', '__proto__', 'nn', ''));
const names = fc.array(
  fc.oneof({ weight: 1, arbitrary: fc.oneof(variant, fc.constant(CAMEL)) }, { weight: 3, arbitrary: other }),
  { maxLength: 6 },
);

function refusalOf(text: string): ApiError | undefined {
  try {
    guarded.check(text);
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
  return undefined;
}

describe('GuardedNames', () => {
  it('take a body if and only if each is said once at most, and none in another spelling', () => {
    fc.assert(
      fc.property(names, fc.infiniteStream(fc.boolean()), fc.jsonValue(), (said, stream, value) => {
        const members = said.map((name) => {
          const escapes = [...stream.take(name.length)];
          return `${written(name, escapes)} : ${JSON.stringify(value)}`;
        });
        const text = `{ ${members.join(' ,\n')} }`;
        const known = said.filter(isLike);
        const isPlain = known.every((name) => NAMES.includes(name)) && new Set(known).size === known.length;
        const refused = refusalOf(text);
        if (isPlain) expect(refused).toBeUndefined();
        else
          expect([known, refused]).toMatchObject([
            expect.arrayContaining([refused?.param]),
            { code: 'invalid_request' },
          ]);
      }),
      { numRuns: sized(2_000, 50_000) },
    );
  });

  it('look at the body alone, and at nothing inside it', () => {
    const inner = '{"model":1,"model":2,"Model":3}';
    const text = `{"model":"m","messages":[${inner}],"x":${inner},"text":${JSON.stringify(inner)}}`;
    expect(refusalOf(text)).toBeUndefined();
  });
});
