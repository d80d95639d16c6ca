import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { createLineRedactor } from '../../../src/observability/redaction.js';
import { REDACTED } from '../../../src/observability/secret.finder.js';
import { sized } from '../../support/proof-scale.js';

const line = (fields: unknown): string => `${JSON.stringify(fields)}\n`;
const redact = (fields: unknown, secrets: readonly string[] = []): unknown =>
  JSON.parse(createLineRedactor(secrets)(line(fields)));

describe('createLineRedactor()', () => {
  it('hands a line without secrets back as it is', () => {
    const plain = line({
      level: 'info',
      route: '/v1/models/:id',
      tokens: 12,
      msg: 'the task-based risk-analysis is done',
    });
    expect(createLineRedactor(['sup3r-secret'])(plain)).toBe(plain);
  });

  it('takes a known secret out of every string, however deep, names included', () => {
    const fields = { a: ['x sup3r-secret y', { b: 'sup3r-secret' }], 'sup3r-secret': 1 };
    expect(redact(fields, ['sup3r-secret'])).toEqual({
      a: [`x ${REDACTED} y`, { b: REDACTED }],
      [REDACTED]: 1,
    });
  });

  it('finds a secret in the spelling of a URL and takes the longer of two first', () => {
    expect(redact({ url: 'http://a/?q=p%2Fw%23secret' }, ['p/w#secret'])).toEqual({ url: `http://a/?q=${REDACTED}` });
    expect(redact({ a: 'secret-longer' }, ['secret', 'secret-longer'])).toEqual({ a: REDACTED });
  });

  it('leaves secrets alone that are too short to be told from words', () => {
    expect(redact({ msg: 'redis' }, ['redis', ''])).toEqual({ msg: 'redis' });
  });

  it.each([
    'authorization',
    'Authorization',
    'api-key',
    'x-api-key',
    'X-Goog-Api-Key',
    'cookie',
    'set-cookie',
    'password',
    'keySha256',
  ])('empties the field %s', (name) => {
    expect(redact({ headers: { [name]: ['a', 'b'], host: 'h' } })).toEqual({
      headers: { [name]: REDACTED, host: 'h' },
    });
  });

  it.each([
    ['Bearer abcdef123', `Bearer ${REDACTED}`],
    ['got BEARER abc.def-ghi_j here', `got BEARER ${REDACTED} here`],
    ['Basic dXNlcjpwYXNz', `Basic ${REDACTED}`],
    ['Incorrect API key provided: sk-proj-abcdEFGH1234.', `Incorrect API key provided: ${REDACTED}.`],
    ['key AIzaSyA-1234567890abcdefghij', `key ${REDACTED}`],
    ['eyJhbGciOiJI.eyJzdWIiOiIx.c2ln', REDACTED],
    ['connect redis://user:pa55@host:6379/0', `connect redis://${REDACTED}@host:6379/0`],
    ['GET https://g/v1?alt=sse&key=abc123 failed', `GET https://g/v1?alt=sse&key=${REDACTED} failed`],
    ['x-api-key: abc123', `x-api-key: ${REDACTED}`],
    ['Authorization: abc123', `Authorization: ${REDACTED}`],
    [
      '{"headers":{"authorization":"abc123","password":"p w"}}',
      `{"headers":{"authorization":"${REDACTED}","password":"${REDACTED}"}}`,
    ],
  ])('takes the credential out of "%s"', (text, expected) => {
    expect(redact({ msg: text })).toEqual({ msg: expected });
  });

  it('keeps our own hint on how to send a key', () => {
    const hint = { msg: 'missing or invalid API key; send it as "Authorization: Bearer <key>"' };
    expect(redact(hint)).toEqual(hint);
  });

  it('writes valid JSON without the secret, whatever secret and fields look like', () => {
    const secrets = fc.string({ minLength: 6, maxLength: 30, unit: 'binary' });
    fc.assert(
      fc.property(secrets, fc.jsonValue(), fc.string(), (secret, value, around) => {
        const written = createLineRedactor([secret])(line({ value, msg: `${around}${secret}${around}`, n: 123456789 }));
        expect(written.endsWith('\n')).toBe(true);
        fc.pre(!REDACTED.includes(secret));
        const { msg } = JSON.parse(written) as { msg: string };
        expect(msg).toContain(REDACTED);
        expect(msg).not.toContain(secret);
      }),
      { numRuns: sized(300, 20_000) },
    );
  });

  it('takes time that grows with the line, not with its square', () => {
    const redactor = createLineRedactor(['sup3r-secret']);
    for (const unit of ['a', '://', '?key', 'sk-', 'eyJ.', 'Bearer ', ' ', 'authorization:', '\\"']) {
      const long = line({ msg: unit.repeat(100_000) });
      expect(redactor(long).length).toBeGreaterThan(0);
    }
  });
});
