import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { SecretFinder } from '../../../src/observability/index.js';
import { createLineRedactor } from '../../../src/observability/redaction.js';
import { REDACTED } from '../../../src/observability/secret.finder.js';
import { sized } from '../../support/proof-scale.js';
import { SPELLINGS } from '../../support/secret-spellings.js';

const KEYS = [
  'sk-proj-4f9a_Zk3~x',
  'a/b+c==&<"d"\'e',
  'plain0key1',
  'twelve-chars',
  '0123456789abcdef0123456789abcdef',
];

/** What is left of a text when everything that could spell something in it is read. */
function readings(text: string): string[] {
  const decoded = text
    .replaceAll(/\\u([0-9a-f]{4})/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
    .replaceAll(/%25/g, '%')
    .replaceAll(/%([0-9a-f]{2})/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
    .replaceAll(/&#(\d+);/g, (_, code: string) => String.fromCharCode(Number(code)));
  const words = decoded.split(/[^\w+/=-]+/);
  return [text, decoded, ...words.map((word) => Buffer.from(word, 'base64').toString('latin1'))];
}

describe('SecretFinder', () => {
  const spelt = Object.entries(SPELLINGS).flatMap(([name, spell]) =>
    KEYS.map((key): [string, string, string] => [name, key, spell(key)]),
  );

  it.each(spelt)('finds a secret %s: %s', (_name, key, spelling) => {
    const said = `the key "${spelling}" was refused`;
    const text = new SecretFinder([key]).redact(said);
    expect(text).toContain(REDACTED);
    for (const reading of readings(text)) expect(reading).not.toContain(key);
    expect(text.startsWith('the key "')).toBe(true);
    expect(text.endsWith('" was refused')).toBe(true);
    const line = createLineRedactor([key])(`${JSON.stringify({ msg: said, deep: [{ said }] })}\n`);
    expect(JSON.parse(line)).toEqual({ msg: text, deep: [{ said: text }] });
  });

  it('finds all of them, each once, where they stand beside and in each other', () => {
    const finder = new SecretFinder(['first-secret', 'first-secret-longer', 'second%20one']);
    const text = finder.redact('first-secret-longer,first-secret first-%73ecret second%20one second%2520one');
    expect(text).toBe(`${REDACTED},${REDACTED} ${REDACTED} ${REDACTED} ${REDACTED}`);
  });

  it.each([
    ['100% of the %20 tokens &amp; more', 'sup3r-secret'],
    ['the word none stands here', 'none'],
    // In base64 a key of six letters would be found in other words' base64.
    ['bm9uZXN1Y2g', 'nonesu'],
  ])('leaves a text alone that holds none: %s', (text, secret) => {
    expect(new SecretFinder([secret]).redact(text)).toBe(text);
  });

  it('keeps every text that has nothing to do with the secret, whatever it is escaped like', () => {
    const text = fc.string({ unit: fc.constantFrom('%', '2', '5', '&', '#', ';', '\\', 'u', '0', '/', '"', 'a', 'é') });
    fc.assert(
      fc.property(text, (around) => {
        const finder = new SecretFinder(['sup3r-secret']);
        expect(finder.redact(around)).toBe(around);
        expect(finder.redact(`${around} sup3r-secret ${around}`)).toBe(`${around} ${REDACTED} ${around}`);
      }),
      { numRuns: sized(500, 20_000) },
    );
  });

  it('takes time that grows with the text', () => {
    const finder = new SecretFinder(KEYS);
    for (const unit of ['%', '%25', '&', '&#', '&#x', '\\', '\\u', '\\\\', '-_', '%2525', 'a']) {
      expect(finder.redact(unit.repeat(100_000))).toBe(unit.repeat(100_000));
    }
  });
});
