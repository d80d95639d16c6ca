import { describe, expect, it } from '@jest/globals';
import { type Caller, InvalidApiKeyError, ownerOf } from '../../../src/auth/index.js';
import { callerOfToken } from '../../../src/auth/token.caller.js';
import type { IssuerSettings } from '../../../src/config/index.js';

const ISSUER = 'https://login.example.com/';
const WEB: Caller = { id: 'web', tier: 'free', scopes: ['chat', 'admin'], weight: 1, limits: { rpm: 5 } };
const CHAT_ONLY: Caller = { ...WEB, id: 'chat-only', scopes: ['chat'] };

const settings = (more: Partial<IssuerSettings> = {}): IssuerSettings => ({
  issuer: ISSUER,
  jwksUrl: 'https://login.example.com/jwks',
  audience: ['ai'],
  algorithms: ['RS256'],
  types: ['jwt'],
  clockSkewMs: 0,
  caller: 'web',
  subjects: [],
  ...more,
});

const read = (claims: object, more: Partial<IssuerSettings> = {}): Caller =>
  callerOfToken({ sub: 'u1', ...claims }, settings(more), (id) => [WEB, CHAT_ONLY].find((caller) => caller.id === id));

describe('callerOfToken()', () => {
  it('is the configured caller, with the user beside it', () => {
    const caller = read({});
    expect(caller).toEqual({ ...WEB, scopes: ['chat'], user: { issuer: ISSUER, subject: 'u1' } });
    expect(Object.isFrozen(caller)).toBe(true);
  });

  it('is another caller for subjects that are named', () => {
    const subjects = [{ subject: 'u1', caller: 'chat-only' }];
    expect(read({}, { subjects }).id).toBe('chat-only');
    expect(read({ sub: 'u2' }, { subjects }).id).toBe('web');
  });

  it.each([
    ['a subject that nobody names', 'u2'],
    ['no subject', undefined],
    ['an empty one', ''],
    ['an endless one', 'u'.repeat(256)],
    ['one that is no text', 7],
  ])('is nobody for %s', (_, sub) => {
    const only = settings({ subjects: [{ subject: 'u1', caller: 'web' }] });
    const { caller: _caller, ...named } = only;
    expect(() => callerOfToken({ sub: sub as string }, named, () => WEB)).toThrow(InvalidApiKeyError);
  });

  it.each([
    ['gold', 'enterprise'],
    ['silver', 'pro'],
    [['silver', 'gold'], 'enterprise'],
    ['team silver', 'pro'],
    ['lead', 'free'],
    ['GOLD', 'free'],
    [undefined, 'free'],
    [{ gold: true }, 'free'],
    [['constructor'], 'free'],
  ])('has by the plan %j the tier %s', (plan, tier) => {
    const values = [
      { value: 'gold', meaning: 'enterprise' },
      { value: 'silver', meaning: 'pro' },
    ] as const;
    expect(read({ plan }, { tiers: { claim: 'plan', values } }).tier).toBe(tier);
  });

  it.each([
    ['ai:chat', ['chat']],
    ['openid ai:chat ai:admin', ['chat', 'admin']],
    [['ai:admin'], ['admin']],
    ['admin', []],
    [undefined, []],
  ])('has by the scope %j the scopes %j', (scope, expected) => {
    const values = [
      { value: 'ai:admin', meaning: 'admin' },
      { value: 'ai:chat', meaning: 'chat' },
    ] as const;
    expect(read({ scope }, { scopes: { claim: 'scope', values } }).scopes).toEqual(expected);
  });

  it('never has a scope that its caller has not', () => {
    const values = [{ value: 'ai:admin', meaning: 'admin' }] as const;
    const more = { caller: 'chat-only', scopes: { claim: 'scope', values } };
    expect(read({ scope: 'ai:admin' }, more).scopes).toEqual([]);
  });

  it('finds a claim by its whole name, or by the way to it', () => {
    const at = (claim: string) => ({ tiers: { claim, values: [{ value: 'gold', meaning: 'pro' }] as const } });
    expect(read({ 'https://a.example/plan': 'gold' }, at('https://a.example/plan')).tier).toBe('pro');
    expect(read({ realm: { roles: ['gold'] } }, at('realm.roles')).tier).toBe('pro');
    expect(read({ realm: 'gold' }, at('realm.roles')).tier).toBe('free');
    expect(read({}, at('__proto__.constructor.name')).tier).toBe('free');
  });
});

describe('ownerOf()', () => {
  it('tells callers, issuers and subjects apart, whatever they are called', () => {
    const user = (issuer: string, subject: string) => ({ id: 'web', user: { issuer, subject } });
    const all = [
      { id: 'web' },
      user('a', 'b'),
      user('a,b', ''),
      user('a', 'b","c'),
      user('b', 'a'),
      user('a","b', 'c'),
    ];
    expect(new Set(all.map(ownerOf)).size).toBe(all.length);
    expect(ownerOf({ id: 'web' })).toBe('web');
  });
});
