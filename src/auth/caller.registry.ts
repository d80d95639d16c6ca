import { Inject, Injectable } from '@nestjs/common';
import { hash, timingSafeEqual } from 'node:crypto';
import type { CallerSettings, KeySettings } from '../config/index.js';
import { SCOPES } from '../config/index.js';
import { AUTH_OPTIONS, type AuthModuleOptions } from './auth.module-definition.js';
import type { Caller } from './caller.js';

/** Who everybody is while no callers are configured; the server then answers on loopback only. */
export const ANONYMOUS: Caller = Object.freeze({
  id: 'anonymous',
  tier: 'enterprise',
  scopes: SCOPES,
  weight: 1,
  limits: {},
});

/** Longest key that is looked at, in bytes as sent. No key of ours comes near this. */
export const MAX_KEY_LENGTH = 512;

/** A key that somebody has, in whatever state it is. */
export interface KnownKey {
  readonly caller: Caller;
  /** Tells the keys apart, without telling what they are. */
  readonly index: number;
  /** Unix ms. */
  readonly notBefore: number;
  /** Unix ms; it counts no more from this moment on. */
  readonly expires: number;
}

interface Entry extends KnownKey {
  readonly digest: Buffer;
}

/**
 * Knows the callers and whose key is whose. It holds SHA-256 digests only.
 *
 * The digest of the presented key is compared with every caller's, each in constant time and without stopping at a hit: the time
 * spent depends on the number of keys alone. A map keyed by the digest would be O(1), but string and hash-table lookups end at
 * the first difference, and a stranger who can choose keys by the prefix of their digest could read a stored digest from the
 * timing and guess a weak key offline. One comparison costs 40 ns, so a thousand keys cost what one request's logging does.
 */
@Injectable()
export class CallerRegistry {
  private readonly callers: readonly Caller[];
  private readonly entries: readonly Entry[];

  constructor(@Inject(AUTH_OPTIONS) { callers }: AuthModuleOptions) {
    const known = callers.map((settings) => ({ keys: settings.keys, caller: callerOf(settings) }));
    this.callers = known.map(({ caller }) => caller);
    this.entries = known
      .flatMap(({ keys, caller }) => keys.map((key) => ({ key, caller })))
      .map(({ key, caller }, index) => entryOf(key, caller, index));
  }

  /** True while no callers are configured: everybody is {@link ANONYMOUS}. */
  get isOpen(): boolean {
    return this.callers.length === 0;
  }

  /** The caller of that id; undefined: there is none. */
  find(id: string): Caller | undefined {
    if (this.isOpen) return id === ANONYMOUS.id ? ANONYMOUS : undefined;
    return this.callers.find((caller) => caller.id === id);
  }

  /**
   * Whose key this is, whether or not it counts today; undefined: nobody's.
   *
   * @param key as Node decodes it from the header
   */
  match(key: string): KnownKey | undefined {
    if (key.length > MAX_KEY_LENGTH) return undefined;
    // Node decodes header bytes as latin1; this gives back the bytes that were sent, so that a UTF-8 key matches its digest.
    const presented = hash('sha256', Buffer.from(key, 'latin1'), 'buffer');
    let found: KnownKey | undefined;
    for (const entry of this.entries) {
      if (timingSafeEqual(entry.digest, presented)) found = entry;
    }
    return found;
  }
}

function entryOf({ sha256, notBefore, expires }: KeySettings, caller: Caller, index: number): Entry {
  if (!/^[0-9a-f]{64}$/i.test(sha256)) throw new TypeError(`caller "${caller.id}": sha256 must be 64 hex digits`);
  return {
    digest: Buffer.from(sha256, 'hex'),
    caller,
    index,
    notBefore: notBefore ?? Number.NEGATIVE_INFINITY,
    expires: expires ?? Number.POSITIVE_INFINITY,
  };
}

function callerOf({ name, tier, scopes, weight, limits, budget, cacheGroup, origins }: CallerSettings): Caller {
  return Object.freeze({
    id: name,
    tier,
    scopes: Object.freeze([...scopes]),
    weight,
    limits,
    ...(budget !== undefined && { budget }),
    ...(cacheGroup !== undefined && { cacheGroup }),
    ...(origins !== undefined && { origins: Object.freeze([...origins]) }),
  });
}
