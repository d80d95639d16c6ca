import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { escapeName } from '../../../src/store/index.js';

const anyText = fc.string({
  unit: fc.oneof(
    fc.constantFrom(...'{}:|%~-u0\n\0\x7f\x80\x9fé…'.split(''), '\ud800', '\udc00'),
    fc.string({ unit: 'binary', maxLength: 1 }),
  ),
  maxLength: 400,
});

describe('escapeName()', () => {
  it('leaves usual names readable', () => {
    expect(escapeName('order-7_a.b@c')).toBe('order-7_a.b@c');
    expect(escapeName('order:7')).toBe('order%3a7');
    expect(escapeName('a}{b')).toBe('a%7d%7bb');
  });

  it('gives a name to the empty text, since {} would be no hash tag', () => {
    expect(escapeName('')).not.toBe('');
  });

  it('is bounded and free of separators for any text', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const name = escapeName(text);
        expect(name).toMatch(/^[^{}:|\p{Cc}]+$/u);
        expect(Buffer.byteLength(name)).toBeLessThanOrEqual(256);
        expect(Buffer.from(name).toString()).toBe(name);
      }),
    );
  });

  it('never gives two texts one name', () => {
    fc.assert(
      fc.property(anyText, anyText, (one, other) => {
        expect(escapeName(one) === escapeName(other)).toBe(one === other);
        expect(escapeName(escapeName(one)) === escapeName(one)).toBe(!escapeName(one).includes('%'));
      }),
    );
    const long = 'x'.repeat(500);
    expect(escapeName(`${long}a`)).not.toBe(escapeName(`${long}b`));
    expect(escapeName(`${long}\ud800`)).not.toBe(escapeName(`${long}\ud801`));
    expect(escapeName(escapeName(long))).not.toBe(escapeName(long));
  });
});
