import type { BudgetSettings, LimitSettings, Scope, Tier } from '../config/index.js';

/** Who calls: set on the request by the guard, read with `@CurrentCaller()`. Never holds the key or the token. */
export interface Caller {
  readonly id: string;
  readonly tier: Tier;
  readonly scopes: readonly Scope[];
  /** Share under contention. */
  readonly weight: number;
  readonly limits: LimitSettings;
  readonly budget?: BudgetSettings;
  /** Callers of one group are given each other's cached answers. */
  readonly cacheGroup?: string;
  /** The only pages from which it may call; undefined: from anywhere. */
  readonly origins?: readonly string[];
  /** Who of the caller's users it is, where a token says so. */
  readonly user?: TokenUser;
}

/** Whom a token is about. Only both together name somebody: subjects are an issuer's own. */
export interface TokenUser {
  readonly issuer: string;
  readonly subject: string;
}

/**
 * Whose a thing is that the caller makes here: one text for each caller, and for each of its users where tokens tell them apart.
 * It stays the same when keys and tokens change.
 */
export function ownerOf({ id, user }: Pick<Caller, 'id' | 'user'>): string {
  // No caller's name begins with a bracket.
  return user === undefined ? id : JSON.stringify([id, user.issuer, user.subject]);
}
