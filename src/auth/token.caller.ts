import type { JWTPayload } from 'jose';
import type { ClaimSettings, IssuerSettings, Scope } from '../config/index.js';
import { InvalidApiKeyError } from './auth.errors.js';
import type { Caller } from './caller.js';

/** Subjects are written into stores and logs; OpenID Connect allows 255 characters. */
const LONGEST_SUBJECT = 255;

/**
 * Who the bearer of a token is: the caller that the configuration names for its subject, with the tier and the scopes that its claims
 * are said to mean. A token can never give more scopes than the caller has, and `admin` only where the configuration says by which
 * value; a claim that is missing or says something unknown gives nothing.
 *
 * @param claims of a token that was checked
 * @throws {InvalidApiKeyError} where nobody is meant
 */
export function callerOfToken(
  claims: JWTPayload,
  settings: IssuerSettings,
  find: (id: string) => Caller | undefined,
): Caller {
  const subject = claims.sub;
  if (typeof subject !== 'string' || subject === '' || subject.length > LONGEST_SUBJECT)
    throw new InvalidApiKeyError('token: no usable sub');
  const name = settings.subjects.find((each) => each.subject === subject)?.caller ?? settings.caller;
  const caller = name === undefined ? undefined : find(name);
  if (caller === undefined) throw new InvalidApiKeyError('token: sub is nobody here');
  return Object.freeze({
    ...caller,
    tier: settings.tiers === undefined ? caller.tier : (meaningsIn(claims, settings.tiers)[0] ?? caller.tier),
    scopes: Object.freeze(scopesOf(claims, caller, settings.scopes)),
    user: Object.freeze({ issuer: settings.issuer, subject }),
  });
}

function scopesOf(claims: JWTPayload, { scopes }: Caller, settings: ClaimSettings<Scope> | undefined): Scope[] {
  const given: readonly Scope[] = settings === undefined ? ['chat'] : meaningsIn(claims, settings);
  return scopes.filter((scope) => given.includes(scope));
}

/** What the values that a claim has mean, in the order of the configuration. */
function meaningsIn<T>(claims: JWTPayload, { claim, values }: ClaimSettings<T>): readonly T[] {
  const words = wordsOf(claimAt(claims, claim));
  return values.filter(({ value }) => words.has(value)).map(({ meaning }) => meaning);
}

/** By the whole name first: names of claims are URLs as often as not, with dots in them. */
function claimAt(claims: JWTPayload, name: string): unknown {
  if (Object.hasOwn(claims, name)) return claims[name];
  return name.split('.').reduce<unknown>((value, key) => memberOf(value, key), claims);
}

function memberOf(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, key) ? Reflect.get(value, key) : undefined;
}

/** A list of texts, or one text, which is also the list of its words (RFC 8693 section 4.2). */
function wordsOf(value: unknown): ReadonlySet<unknown> {
  if (typeof value === 'string') return new Set([value, ...value.split(' ')]);
  return new Set<unknown>(Array.isArray(value) ? value : []);
}
