import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  busyPattern,
  escapeText,
  keyOfName,
  lockKeys,
  tombstoneKey,
  unescapeText,
} from '../../../src/lock/lock.keys.js';

/** Any text, also with lone surrogates and the characters that separate. */
const texts = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({ unit: fc.constantFrom('{', '}', '|', '%', ':', 'a', '\ud800', '\udc00', '\n', '0041') }),
);

describe('lockKeys()', () => {
  it('puts all keys of a lock under one hash tag', () => {
    expect([...lockKeys('app:', 'order:7'), tombstoneKey('app:', 'order:7', 'p1-1')]).toEqual([
      'app:lk:{order:7}',
      'app:lk:{order:7}:e',
      'app:lk:{order:7}:q',
      'app:lk:{order:7}:a',
      'app:lk:{order:7}:x:p1-1',
    ]);
  });

  it('makes a hash tag of any text, also of none', () => {
    expect(lockKeys('', '')[0]).toBe('lk:{%}');
    expect(lockKeys('', '{a}b')[0]).toBe('lk:{%007Ba%007Db}');
  });
});

describe('escapeText()', () => {
  it('leaves nothing that separates, and gives every text back as it was', () => {
    fc.assert(
      fc.property(texts, (text) => {
        const name = escapeText(text);
        expect(name).toMatch(/^[^{}|\p{Cc}\p{Cs}]+$/u);
        expect(Buffer.from(name).toString()).toBe(name);
        expect(unescapeText(name)).toBe(text);
      }),
    );
  });
});

describe('keyOfName()', () => {
  it('finds the key in any of its names, and none in others', () => {
    fc.assert(
      fc.property(texts, texts, (key, prefix) => {
        for (const name of lockKeys(prefix, key)) expect(keyOfName(prefix, name)).toBe(key);
      }),
    );
    expect(keyOfName('app:', 'lk:{a}')).toBeUndefined();
    expect(keyOfName('', 'lk:{a')).toBeUndefined();
  });
});

describe('busyPattern()', () => {
  it('takes the prefix word for word', () => {
    expect(busyPattern('a[*]?^\\:')).toBe('a\\[\\*\\]\\?\\^\\\\:lk:{*}:[eq]');
  });
});
