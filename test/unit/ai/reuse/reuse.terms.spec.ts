import { describe, expect, it } from '@jest/globals';
import { parseChatRequest } from '../../../../src/ai/call/chat-request.js';
import { readReuseTerms, reuseMode } from '../../../../src/ai/reuse/reuse.terms.js';

describe('readReuseTerms()', () => {
  it.each([
    [undefined, undefined],
    ['', undefined],
    ['max-age=60', undefined],
    ['no-cache', 'no-cache'],
    ['max-age=0', 'no-cache'],
    ['NO-CACHE , max-age=0', 'no-cache'],
    ['no-cache,no-store', 'no-store'],
    ['no-cachet', undefined],
  ])('reads Cache-Control: %s as %s', (header, cacheControl) => {
    const headers = header === undefined ? {} : { 'cache-control': header };
    expect(readReuseTerms({ headers }).cacheControl).toBe(cacheControl);
  });

  it('reads an Idempotency-Key as it is', () => {
    const key = '!~8e03978e-40d5-43dd-bc93-6894a57f9324';
    expect(readReuseTerms({ headers: { 'idempotency-key': key } })).toEqual({ idempotencyKey: key });
  });

  it.each([[''], [' '], ['a b'], ['ä'], ['x'.repeat(256)], [['a', 'b']]])('refuses %j', (key) => {
    expect(() => readReuseTerms({ headers: { 'idempotency-key': key } })).toThrow(
      expect.objectContaining({ code: 'invalid_request', param: 'Idempotency-Key' }),
    );
  });
});

describe('reuseMode()', () => {
  const mode = (terms: object, more: object = {}) => {
    const body = { model: 'm', messages: [{ role: 'user', content: 'Hi' }], ...more };
    return reuseMode(terms, parseChatRequest(body, JSON.stringify(body)));
  };

  it.each([
    [{}, {}, true, true],
    [{}, { n: 1, cache: true }, true, true],
    [{}, { n: null, cache: null }, true, true],
    [{ cacheControl: 'no-cache' }, {}, false, true],
    [{ cacheControl: 'no-store' }, {}, false, false],
    [{}, { cache: false }, false, false],
    [{}, { n: 2 }, false, false],
    [{ cacheControl: 'no-cache' }, { cache: false }, false, false],
  ])('of %j and %j: shared %s, kept %s', (terms, more, isShared, isKept) => {
    expect(mode(terms, more)).toEqual({ isShared, isKept });
  });
});
