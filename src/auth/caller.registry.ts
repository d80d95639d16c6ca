import { Inject, Injectable } from '@nestjs/common';
import { hash, timingSafeEqual } from 'node:crypto';
import type { CallerSettings } from '../config/index.js';
import { SCOPES } from '../config/index.js';
import { InvalidApiKeyError } from './auth.errors.js';
import { AUTH_OPTIONS, type AuthModuleOptions } from './auth.module-definition.js';
import { readBearerKey } from './bearer-key.js';
import type { Caller } from './caller.js';

/** Who everybody is while no callers are configured; the server then answers on loopback only. */
export const ANONYMOUS: Caller = Object.freeze({
  id: 'anonymous',
  tier: 'enterprise',
  scopes: SCOPES,
  weight: 1,
  limits: {},
});

interface Entry {
  readonly digest: Buffer;
  readonly caller: Caller;
}

/**
 * Tells who calls from the key they present. It holds SHA-256 digests only.
 *
 * The digest of the presented key is compared with every caller's, each in constant time and without stopping at a hit: the time
 * spent depends on the number of callers alone. A map keyed by the digest would be O(1), but string and hash-table lookups end at
 * the first difference, and a stranger who can choose keys by the prefix of their digest could read a stored digest from the
 * timing and guess a weak key offline. One comparison costs 40 ns, so a thousand callers cost what one request's logging does.
 */
@Injectable()
export class CallerRegistry {
  private readonly entries: readonly Entry[];

  constructor(@Inject(AUTH_OPTIONS) options: AuthModuleOptions) {
    this.entries = options.callers.map((settings) => ({ digest: parseDigest(settings), caller: callerOf(settings) }));
  }

  /**
   * The caller whose key stands in the headers; {@link ANONYMOUS} whatever they hold while no callers are configured.
   *
   * @param rawHeaders names and values in turn, as Node received them.
   * @throws {InvalidApiKeyError} for a missing, malformed, repeated, overlong or unknown key, all alike.
   */
  authenticate(rawHeaders: readonly string[]): Caller {
    if (this.entries.length === 0) return ANONYMOUS;
    const key = readBearerKey(rawHeaders);
    const caller = key === undefined ? undefined : this.withKey(key);
    if (caller === undefined) throw new InvalidApiKeyError();
    return caller;
  }

  /** The caller of that id; undefined: there is none. */
  find(id: string): Caller | undefined {
    if (this.entries.length === 0) return id === ANONYMOUS.id ? ANONYMOUS : undefined;
    return this.entries.find(({ caller }) => caller.id === id)?.caller;
  }

  private withKey(key: string): Caller | undefined {
    // Node decodes header bytes as latin1; this gives back the bytes that were sent, so that a UTF-8 key matches its digest.
    const presented = hash('sha256', Buffer.from(key, 'latin1'), 'buffer');
    let found: Caller | undefined;
    for (const { digest, caller } of this.entries) {
      if (timingSafeEqual(digest, presented)) found = caller;
    }
    return found;
  }
}

function callerOf({ name, tier, scopes, weight, limits, budget, cacheGroup }: CallerSettings): Caller {
  return Object.freeze({
    id: name,
    tier,
    scopes: Object.freeze([...scopes]),
    weight,
    limits,
    ...(budget !== undefined && { budget }),
    ...(cacheGroup !== undefined && { cacheGroup }),
  });
}

function parseDigest({ name, keySha256 }: CallerSettings): Buffer {
  if (!/^[0-9a-f]{64}$/i.test(keySha256)) throw new TypeError(`caller "${name}": keySha256 must be 64 hex digits`);
  return Buffer.from(keySha256, 'hex');
}
