import { AdmissionOptionsError } from './admission.errors.js';
import { isUnlimited } from './admission.rules.js';
import type { Scope } from './admission.store.js';
import type { ClaimRequest } from './client/claim.js';

/** What a call needs of one scope. */
export interface Wish {
  /** Rules of one name are the same in all wishes and processes; see scopeRules(). */
  readonly scope: Scope;
  /** What the scope is to the caller of this module, one of a few words: `caller`, `deployment`. For errors and metrics. */
  readonly kind: string;
  /** Whose call it is: first come, first served in a flow; flows share by weight. */
  readonly flow: string;
  /** Over 0, at most 1,000. Default 1. */
  readonly weight?: number;
  /** Prompt and the most that may be generated. */
  readonly tokens: number;
  /** The most that it may cost, micro-dollars. Default 0. */
  readonly microUsd?: number;
  /** How long it may wait for room, ms. Default 0: it is let in at once, or refused. At most 86 400 000. */
  readonly waitMs?: number;
  /** How long the call may take once it is let in, ms; after it the reservation is booked as it is. At most 86 400 000. */
  readonly holdMs: number;
  /**
   * How long its place stays taken when this process dies: `heartbeat` (default): until some seconds after its last sign of life;
   * `strict`: for holdMs, so that a process that was only frozen never calls beside others.
   */
  readonly slots?: 'heartbeat' | 'strict';
  /**
   * What to do while the store is away: `degrade` (default): use this process's part of the limits; `refuse`. What has a budget is
   * always refused.
   */
  readonly whenStoreDown?: 'degrade' | 'refuse';
  /** Ends the wait with its reason. */
  readonly signal?: AbortSignal;
}

/** A wish with its defaults filled in. */
export interface ResolvedWish {
  readonly scope: Scope;
  readonly request: ClaimRequest;
  readonly waitMs: number;
  readonly whenStoreDown: 'degrade' | 'refuse';
  readonly signal: AbortSignal | undefined;
  /** There is nothing to ask the store for. */
  readonly isUnlimited: boolean;
}

const DAY_MS = 86_400_000;
const MOST_WEIGHT = 1_000;

/** @throws AdmissionOptionsError that names the option, its value and its bounds */
export function resolveWish(wish: Wish): ResolvedWish {
  const { scope, kind, flow, weight = 1, tokens, microUsd = 0, waitMs = 0, holdMs } = wish;
  const { slots = 'heartbeat', whenStoreDown = 'degrade', signal } = wish;
  checkNumber('weight', weight, [Number.MIN_VALUE, MOST_WEIGHT]);
  checkNumber('tokens', tokens, [0, Number.MAX_SAFE_INTEGER]);
  checkNumber('microUsd', microUsd, [0, Number.MAX_SAFE_INTEGER]);
  checkNumber('waitMs', waitMs, [0, DAY_MS]);
  checkNumber('holdMs', holdMs, [1, DAY_MS]);
  if (scope.name === '') throw new AdmissionOptionsError('the name of a scope must not be empty');
  const amounts = { tokens: Math.ceil(tokens), microUsd: Math.ceil(microUsd) };
  return {
    scope,
    request: { kind, flow, weight, ...amounts, holdMs, isStrict: slots === 'strict' },
    waitMs,
    whenStoreDown,
    signal,
    isUnlimited: isUnlimited(scope.rules),
  };
}

/** @throws AdmissionOptionsError */
export function checkWhole(name: string, value: number, least: number): void {
  if (Number.isSafeInteger(value) && value >= least) return;
  throw new AdmissionOptionsError(`${name} must be a whole number from ${String(least)}, not ${String(value)}`);
}

function checkNumber(name: string, value: number, [from, to]: readonly [number, number]): void {
  if (Number.isFinite(value) && value >= from && value <= to) return;
  throw new AdmissionOptionsError(
    `${name} must be a number from ${String(from)} to ${String(to)}, not ${String(value)}`,
  );
}
