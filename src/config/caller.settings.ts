import type { BudgetSettings, LimitSettings } from './limits.js';

export const TIERS = ['free', 'pro', 'enterprise'] as const;
export type Tier = (typeof TIERS)[number];

export const SCOPES = ['chat', 'admin'] as const;
export type Scope = (typeof SCOPES)[number];

/** Somebody who may call, by a key or by the tokens of an issuer. */
export interface CallerSettings {
  /** The caller id: in logs, metrics, ownership. */
  readonly name: string;
  /** Any of them will do; none: it calls by tokens only. */
  readonly keys: readonly KeySettings[];
  /** The only pages from which it may call, as browsers name them; undefined: from anywhere, also without a browser. */
  readonly origins?: readonly string[];
  readonly tier: Tier;
  /** Share under contention. */
  readonly weight: number;
  readonly scopes: readonly Scope[];
  readonly limits: LimitSettings;
  /** Callers of one group are given each other's cached answers; undefined: only its own. */
  readonly cacheGroup?: string;
  readonly budget?: BudgetSettings;
}

/** One key of a caller. */
export interface KeySettings {
  /** SHA-256 of the key, 64 lower-case hex digits. */
  readonly sha256: string;
  /** Unix milliseconds from which on it counts; undefined: always has. */
  readonly notBefore?: number;
  /** Unix milliseconds from which on it counts no more; undefined: never ends. */
  readonly expires?: number;
}

/** Signatures that need a private key to make. HMAC and `none` are not among them, whatever a token says of itself. */
export const TOKEN_ALGORITHMS = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
] as const;
export type TokenAlgorithm = (typeof TOKEN_ALGORITHMS)[number];

/** Whose JSON Web Tokens are taken, and who their bearers are. */
export interface IssuerSettings {
  /** The `iss` of its tokens, letter for letter. */
  readonly issuer: string;
  /** Where its public keys are (RFC 7517 section 5). */
  readonly jwksUrl: string;
  /** True: its host may have a private address although nothing in its name says so. Undefined: false. */
  readonly allowPrivate?: boolean;
  /** A token must be meant for one of these (`aud`). */
  readonly audience: readonly string[];
  readonly algorithms: readonly TokenAlgorithm[];
  /** The `typ` that a token may have, in lower case; `jwt` stands also for none at all. */
  readonly types: readonly string[];
  /** By how much its clock and ours may differ, ms. */
  readonly clockSkewMs: number;
  /** Tokens that were issued longer ago are refused, ms; undefined: their own end is enough. */
  readonly maxAgeMs?: number;
  /** Who everybody is whom `subjects` does not name; undefined: nobody. */
  readonly caller?: string;
  readonly subjects: readonly SubjectSettings[];
  /** Undefined: the caller's own tier. */
  readonly tiers?: ClaimSettings<Tier>;
  /** Undefined: `chat`. */
  readonly scopes?: ClaimSettings<Scope>;
}

/** Who one `sub` is. */
export interface SubjectSettings {
  readonly subject: string;
  readonly caller: string;
}

/** What the values of a claim mean here. */
export interface ClaimSettings<T> {
  /** Its name, or the way to it (`realm_access.roles`). */
  readonly claim: string;
  /** The first ones count most. */
  readonly values: readonly { readonly value: string; readonly meaning: T }[];
}
