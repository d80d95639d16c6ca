import type { BudgetRule } from './admission.rules.js';
import type { Rule, WindowUsage } from './admission.store.js';

/** Which scope refused. */
export interface ScopeFacts {
  /** What the scope is to the caller of this module: `caller`, `deployment`. */
  readonly kind: string;
  readonly scope: string;
}

export interface RefusalFacts extends ScopeFacts {
  /** What stands against the call; undefined where the limits have changed since it began to wait. */
  readonly rule: Rule | undefined;
  /** After which the same call would be let in by present knowledge, ms; nothing is reserved for it. */
  readonly retryAfterMs: number;
  /** True where that depends on how long open calls take. */
  readonly isEstimate: boolean;
  /** How long it was waited for, ms. */
  readonly queueMs: number;
  /** What was used of each window when the store was asked. */
  readonly usage: readonly WindowUsage[];
}

/** There is no room within the wait. */
export class AdmissionBusyError extends Error implements RefusalFacts {
  override readonly name = 'AdmissionBusyError';
  readonly code = 'rate_limit_exceeded';
  readonly isRetryable = true;
  readonly kind: string;
  readonly scope: string;
  readonly rule: Rule | undefined;
  readonly retryAfterMs: number;
  readonly isEstimate: boolean;
  readonly queueMs: number;
  readonly usage: readonly WindowUsage[];

  constructor({ kind, scope, rule, retryAfterMs, isEstimate, queueMs, usage }: RefusalFacts) {
    const delay = `${isEstimate ? 'about ' : ''}${String(retryAfterMs)} ms`;
    super(`this ${kind} ${describe(rule)}; there is room in ${delay}`);
    this.kind = kind;
    this.scope = scope;
    this.rule = rule;
    this.retryAfterMs = retryAfterMs;
    this.isEstimate = isEstimate;
    this.queueMs = queueMs;
    this.usage = usage;
  }
}

/** It is more than the limit allows at any time: waiting is of no use. */
export class AdmissionTooLargeError extends Error implements ScopeFacts {
  override readonly name = 'AdmissionTooLargeError';
  readonly code = 'rate_limit_exceeded';
  readonly isRetryable = false;
  readonly kind: string;
  readonly scope: string;
  /** What was used of each window when the store was asked. */
  readonly usage: readonly WindowUsage[];

  /** @param tokens what was asked for */
  constructor(
    { kind, scope, usage }: ScopeFacts & Pick<RefusalFacts, 'usage'>,
    readonly rule: Rule,
    readonly tokens: number,
  ) {
    super(`a call with ${String(tokens)} tokens is more than this ${kind} may ever take: it ${describe(rule)}`);
    this.kind = kind;
    this.scope = scope;
    this.usage = usage;
  }
}

/** What is left of a budget is less than the call may cost. */
export class AdmissionBudgetError extends Error implements ScopeFacts {
  override readonly name = 'AdmissionBudgetError';
  readonly code = 'insufficient_quota';
  readonly isRetryable = false;
  readonly kind: string;
  readonly scope: string;

  /** @param retryAfterMs until the budget is fresh, or until what is reserved now may have turned out less, ms */
  constructor(
    { kind, scope }: ScopeFacts,
    readonly rule: Rule,
    readonly retryAfterMs: number,
  ) {
    super(`this ${kind} ${describe(rule)}`);
    this.kind = kind;
    this.scope = scope;
  }
}

/** So many wait in this process already that one more would not be served in time. */
export class AdmissionOverloadedError extends Error implements ScopeFacts {
  override readonly name = 'AdmissionOverloadedError';
  readonly code = 'overloaded';
  readonly isRetryable = true;
  readonly kind: string;
  readonly scope: string;

  constructor(
    { kind, scope }: ScopeFacts,
    readonly waiting: number,
    readonly retryAfterMs: number,
  ) {
    super(`${String(waiting)} calls wait already for room in this ${kind}`);
    this.kind = kind;
    this.scope = scope;
  }
}

/** The store did not answer, or refused, and the rules of the scope allow nothing without it; `cause` says why. */
export class AdmissionStoreError extends Error {
  override readonly name = 'AdmissionStoreError';
  readonly code = 'store_unavailable';
  /** False: another try can't help (wrong type, topology, password). */
  readonly isRetryable: boolean;
  readonly retryAfterMs = 1_000;

  constructor(fact: string, options: { readonly cause?: unknown; readonly isRetryable?: boolean } = {}) {
    super(
      `the admission store gave no result: ${fact}`,
      options.cause === undefined ? undefined : { cause: options.cause },
    );
    this.isRetryable = options.isRetryable ?? true;
  }
}

/** This process shuts down and admits no more. */
export class AdmissionClosedError extends Error {
  override readonly name = 'AdmissionClosedError';
  readonly code = 'draining';
  readonly isRetryable = true;

  constructor() {
    super('admission is closed: this process is shutting down');
  }
}

/** A wish or option that is no good: a fault in the calling code. */
export class AdmissionOptionsError extends Error {
  override readonly name = 'AdmissionOptionsError';
  readonly code = 'internal_error';
}

/** What a store did wrong, as this module's error. */
export function storeErrorOf(error: unknown): AdmissionStoreError {
  if (error instanceof AdmissionStoreError) return error;
  const fact = error instanceof Error ? error.message : String(error);
  return new AdmissionStoreError(fact, { cause: error, isRetryable: !isFinal(error) });
}

/** True for a failure that another try can't heal: a wrong type, slot, topology or password. */
export function isFinal(error: unknown): boolean {
  return typeof error === 'object' && error !== null && 'isRetryable' in error && error.isRetryable === false;
}

function describe(rule: Rule | undefined): string {
  switch (rule?.kind) {
    case undefined:
      return 'has no room';
    case 'requests':
    case 'tokens':
      return `may take ${String(rule.limit)} ${rule.kind} in ${String(rule.windowMs / 1_000)} s`;
    case 'slots':
      return `may have ${String(rule.limit)} calls at a time`;
    case 'budget':
      return `has ${amountOf(rule)} a ${rule.period}, of which less is left than this call may take`;
    case 'hold':
      return 'asked for a pause';
  }
}

function amountOf({ unit, limit }: BudgetRule): string {
  return unit === 'usd' ? `${String(limit / 1_000_000)} USD` : `${String(limit)} tokens`;
}
