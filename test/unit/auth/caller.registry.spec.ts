import { describe, expect, it } from '@jest/globals';
import { ANONYMOUS, CallerRegistry, InvalidApiKeyError } from '../../../src/auth/index.js';
import { callerWithKey } from '../../support/callers.js';

const bearer = (key: string): string[] => ['Authorization', `Bearer ${key}`];

describe('CallerRegistry.authenticate()', () => {
  const registry = new CallerRegistry({
    callers: [
      callerWithKey('acme-key', { name: 'acme' }),
      callerWithKey('ops-key', { name: 'ops', tier: 'enterprise', scopes: ['chat', 'admin'], weight: 9, limits: {} }),
      callerWithKey('schlüssel', { name: 'umlaut' }),
    ],
  });

  it('knows each caller by the key', () => {
    expect(registry.authenticate(bearer('acme-key'))).toEqual({
      id: 'acme',
      tier: 'pro',
      scopes: ['chat'],
      weight: 3,
      limits: {},
    });
    expect(registry.authenticate(bearer('ops-key'))).toEqual({
      id: 'ops',
      tier: 'enterprise',
      scopes: ['chat', 'admin'],
      weight: 9,
      limits: {},
    });
  });

  it('knows a key by the bytes that were sent', () => {
    const asNodeDecodesIt = Buffer.from('schlüssel', 'utf8').toString('latin1');
    expect(registry.authenticate(bearer(asNodeDecodesIt)).id).toBe('umlaut');
  });

  it('hands out callers that nobody can change and that hold no key or hash', () => {
    const caller = registry.authenticate(bearer('acme-key'));
    expect(Object.isFrozen(caller)).toBe(true);
    expect(Object.isFrozen(caller.scopes)).toBe(true);
    expect(Object.keys(caller).sort()).toEqual(['id', 'limits', 'scopes', 'tier', 'weight']);
  });

  it.each([
    ['no header', []],
    ['a malformed header', ['Authorization', 'acme-key']],
    ['an unknown key', bearer('nobody')],
    ['a prefix of a key', bearer('acme-ke')],
    ['the hash of a key', bearer(callerWithKey('acme-key').keySha256)],
    ['two headers', [...bearer('acme-key'), ...bearer('acme-key')]],
    ['the key in another header', ['x-api-key', 'acme-key', 'api-key', 'acme-key']],
  ])('refuses %s with one and the same text', (_, rawHeaders) => {
    expect(() => registry.authenticate(rawHeaders)).toThrow(new InvalidApiKeyError());
  });

  it('takes everybody for anonymous while no callers are configured', () => {
    const open = new CallerRegistry({ callers: [] });
    for (const rawHeaders of [[], bearer('whatever'), ['Authorization', 'nonsense']]) {
      expect(open.authenticate(rawHeaders)).toBe(ANONYMOUS);
    }
    expect(ANONYMOUS).toMatchObject({ id: 'anonymous', tier: 'enterprise', scopes: ['chat', 'admin'] });
  });

  it('refuses to start with a hash that is none, and does not show it', () => {
    const broken = { ...callerWithKey('k'), keySha256: 'plain-text-key' };
    expect(() => new CallerRegistry({ callers: [broken] })).toThrow('caller "acme": keySha256 must be 64 hex digits');
  });
});
