import type { LossReason } from './client/acquisition.js';

/** Who has a lock, as far as the store told. */
export interface LockHolder {
  readonly process: string;
  readonly description: string;
  readonly fence: number;
  /** Until its lease ends if it is not renewed, ms. */
  readonly leaseLeftMs: number;
}

/** Somebody has the lock, and the caller did not want to wait. */
export class LockBusyError extends Error {
  override readonly name = 'LockBusyError';
  readonly code = 'lock_busy';
  readonly isRetryable = true;

  /** @param retryAfterMs after which another try makes sense, ms */
  constructor(
    readonly key: string,
    readonly holder: LockHolder | undefined,
    readonly retryAfterMs: number,
  ) {
    super(`lock "${key}" is held${holder === undefined ? '' : ` by ${holder.description || holder.process}`}`);
  }
}

/** The lock did not come within the wait. */
export class LockTimeoutError extends Error {
  override readonly name = 'LockTimeoutError';
  readonly code = 'lock_timeout';
  readonly isRetryable = true;

  constructor(
    readonly key: string,
    readonly waitMs: number,
    readonly retryAfterMs: number,
  ) {
    super(`lock "${key}" did not become free within ${waitMs} ms`);
  }
}

/** released: by its holder · closing: this process shuts down · others: see LossReason */
export type LeaseEnd = LossReason | 'released' | 'closing';

/**
 * The lock is not ours any more (or not yet long enough for what was asked). What was done under it may have been done twice: the
 * fence tells which one counts.
 */
export class LockLostError extends Error {
  override readonly name = 'LockLostError';
  readonly code = 'lock_lost';
  readonly isRetryable = false;
  readonly fence: number | undefined;
  /** What the work returned, where it finished although the lock was lost. */
  readonly result: unknown;

  constructor(
    readonly key: string,
    readonly reason: LeaseEnd,
    details: { readonly fence?: number; readonly result?: unknown } = {},
  ) {
    super(`lock "${key}" ${LOSS_FACTS[reason]}`);
    this.fence = details.fence;
    this.result = details.result;
  }
}

/** The store did not answer, or refused; `cause` says which. */
export class LockStoreError extends Error {
  override readonly name = 'LockStoreError';
  readonly code = 'store_unavailable';
  /** False: another try can't help (wrong type, topology, password). */
  readonly isRetryable: boolean;

  constructor(fact: string, options: { readonly cause?: unknown; readonly isRetryable?: boolean } = {}) {
    super(`the lock store gave no result: ${fact}`, options.cause === undefined ? undefined : { cause: options.cause });
    this.isRetryable = options.isRetryable ?? true;
  }
}

/** This process shuts down and takes no more locks. */
export class LockClosedError extends Error {
  override readonly name = 'LockClosedError';
  readonly code = 'draining';
  readonly isRetryable = true;

  constructor() {
    super('locks are closed: this process is shutting down');
  }
}

/** A key or option that is no good: a fault in the calling code. */
export class LockOptionsError extends Error {
  override readonly name: string = 'LockOptionsError';
  readonly code: string = 'internal_error';
}

/**
 * A key that a decorator's function made of what it was called with is no good: a part is missing, or it is too long. Whoever called
 * can help it, so it is the caller's fault; `cause` says what is wrong, and names the key.
 */
export class LockKeyError extends LockOptionsError {
  override readonly name = 'LockKeyError';
  override readonly code = 'invalid_request';
  readonly isRetryable = false;

  constructor(cause: LockOptionsError) {
    super('a part of the request that says what it is about is missing, or too long', { cause });
  }
}

const LOSS_FACTS: Readonly<Record<LeaseEnd, string>> = {
  expired: 'was lost: its lease ended before a renewal was confirmed',
  max_hold: 'was lost: it was held for as long as it may be',
  gone: 'was lost: the store does not know the lease any more',
  revoked: 'was lost: an operator took it back',
  released: 'was released before',
  closing: 'was given up: this process is shutting down',
};
