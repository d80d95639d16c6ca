import { hash } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { MAX_KEY_LENGTH } from '../../../src/auth/caller.registry.js';
import { ANONYMOUS, CallerRegistry } from '../../../src/auth/index.js';
import { callerWithKey } from '../../support/callers.js';

describe('CallerRegistry', () => {
  const registry = new CallerRegistry({
    callers: [
      callerWithKey('acme-key', {
        name: 'acme',
        keys: [
          { sha256: hash('sha256', 'acme-key') },
          { sha256: hash('sha256', 'next-key'), notBefore: 5, expires: 9 },
        ],
      }),
      callerWithKey('', { name: 'tokens-only', keys: [] }),
      callerWithKey('ops-key', { name: 'ops', tier: 'enterprise', scopes: ['chat', 'admin'], weight: 9, limits: {} }),
      callerWithKey('schlüssel', { name: 'umlaut' }),
      callerWithKey('k'.repeat(MAX_KEY_LENGTH + 1), { name: 'long' }),
    ],
  });

  it('knows each caller by each of its keys, and when they count', () => {
    const acme = { id: 'acme', tier: 'pro', scopes: ['chat'], weight: 3, limits: {} };
    expect(registry.match('acme-key')).toMatchObject({ caller: acme, notBefore: -Infinity, expires: Infinity });
    expect(registry.match('next-key')).toMatchObject({ caller: acme, notBefore: 5, expires: 9 });
    expect(registry.match('ops-key')?.caller).toEqual({
      id: 'ops',
      tier: 'enterprise',
      scopes: ['chat', 'admin'],
      weight: 9,
      limits: {},
    });
    const indices = ['acme-key', 'next-key', 'ops-key'].map((key) => registry.match(key)?.index);
    expect(new Set(indices).size).toBe(3);
  });

  it('knows a key by the bytes that were sent', () => {
    const asNodeDecodesIt = Buffer.from('schlüssel', 'utf8').toString('latin1');
    expect(registry.match(asNodeDecodesIt)?.caller.id).toBe('umlaut');
  });

  it('hands out callers that nobody can change and that hold no key or hash', () => {
    const caller = registry.match('acme-key')?.caller;
    expect(Object.isFrozen(caller)).toBe(true);
    expect(Object.isFrozen(caller?.scopes)).toBe(true);
    expect(Object.keys(caller ?? {}).sort()).toEqual(['id', 'limits', 'scopes', 'tier', 'weight']);
  });

  it.each([
    ['an unknown key', 'nobody'],
    ['a prefix of a key', 'acme-ke'],
    ['the hash of a key', hash('sha256', 'acme-key')],
    ['nothing', ''],
    ['a key of hostile length', 'k'.repeat(MAX_KEY_LENGTH + 1)],
  ])('knows nobody by %s', (_, key) => {
    expect(registry.match(key)).toBeUndefined();
  });

  it('finds callers by their names, those without keys too', () => {
    expect(registry.find('tokens-only')?.id).toBe('tokens-only');
    expect(registry.find('nobody')).toBeUndefined();
    expect(registry.isOpen).toBe(false);
  });

  it('knows only anonymous while no callers are configured', () => {
    const open = new CallerRegistry({ callers: [] });
    expect([open.isOpen, open.find('anonymous'), open.find('acme')]).toEqual([true, ANONYMOUS, undefined]);
    expect(ANONYMOUS).toMatchObject({ id: 'anonymous', tier: 'enterprise', scopes: ['chat', 'admin'] });
  });

  it('refuses to start with a hash that is none, and does not show it', () => {
    const broken = callerWithKey('k', { keys: [{ sha256: 'plain-text-key' }] });
    expect(() => new CallerRegistry({ callers: [broken] })).toThrow('caller "acme": sha256 must be 64 hex digits');
  });
});
