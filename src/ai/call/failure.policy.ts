import type { UpstreamFailure } from '../upstream/upstream-failure.js';

/** How often and how long a request is tried, over all deployments. All durations are milliseconds. */
export interface AttemptRules {
  /** Calls of providers for one request. */
  readonly perRequest: number;
  /** Calls of one deployment for one request. */
  readonly perDeployment: number;
  /** The first retry waits up to this, each further one up to twice as long. */
  readonly firstBackoffMs: number;
  readonly longestBackoffMs: number;
  /** A provider that asks for more patience than this is left while somebody else could answer. */
  readonly patienceMs: number;
}

/** The rules that coordinator.yaml has unless it is told others. */
export const ATTEMPT_RULES: AttemptRules = {
  perRequest: 6,
  perDeployment: 2,
  firstBackoffMs: 250,
  longestBackoffMs: 4_000,
  patienceMs: 10_000,
};

/** Where a request stands after a failed attempt. */
export interface AttemptState {
  /** Attempts so far, this one included. */
  readonly attempts: number;
  /** Of them at this deployment. */
  readonly attemptsHere: number;
  /** What is left of the request's deadline, ms. */
  readonly remainingMs: number;
  /** Another deployment of the same model is left to be tried. */
  readonly hasSibling: boolean;
  /** Another deployment of any model is left to be tried. */
  readonly hasOther: boolean;
  /** The deployment was taken out for everybody meanwhile. */
  readonly isOut: boolean;
}

export type NextStep =
  | { readonly kind: 'stop' }
  /** The next deployment, at once. */
  | { readonly kind: 'leave' }
  /** Only a deployment of a model with a larger window. */
  | { readonly kind: 'enlarge' }
  /** The same deployment again. */
  | { readonly kind: 'retry'; readonly afterMs: number };

/**
 * What follows a failed attempt. The request's own fault stops it, but for a prompt that is too long: a larger model may take it.
 * A key's fault leaves the key, a deployment's the deployment. A provider's fault is tried again here after a random part of a wait that doubles (full jitter);
 * where it asks for a time, after that time and such a part, if that fits the deadline and nobody can answer sooner: those who were
 * told the same must not all come back at once.
 *
 * @param random - 0 to 1
 */
export function nextStep(
  failure: UpstreamFailure,
  state: AttemptState,
  random: number,
  rules = ATTEMPT_RULES,
): NextStep {
  if (state.attempts >= rules.perRequest || state.remainingMs <= 0) return STOP;
  if (failure.blame === 'request') return failure.code === 'context_length_exceeded' ? ENLARGE : STOP;
  if (failure.blame !== 'upstream' || !mayStay(failure, state, rules)) return LEAVE;
  const afterMs = (failure.retryAfterMs ?? 0) + backoffMs(state.attemptsHere, random, rules);
  return afterMs < state.remainingMs ? { kind: 'retry', afterMs } : LEAVE;
}

const STOP: NextStep = { kind: 'stop' };
const LEAVE: NextStep = { kind: 'leave' };
const ENLARGE: NextStep = { kind: 'enlarge' };

function mayStay(failure: UpstreamFailure, state: AttemptState, rules: AttemptRules): boolean {
  const { code, retryAfterMs, isRetryable } = failure;
  if (isRetryable === false || state.attemptsHere >= rules.perDeployment) return false;
  // Whoever let its time pass once is not given it a second time while another one could use it.
  if (code === 'timeout' && state.hasOther) return false;
  // Another key or host of the same model costs nobody anything.
  if (state.hasSibling && (code === 'rate_limit_exceeded' || retryAfterMs !== undefined)) return false;
  if (retryAfterMs !== undefined) return !state.hasOther || retryAfterMs <= rules.patienceMs;
  return !state.isOut;
}

function backoffMs(attemptsHere: number, random: number, rules: AttemptRules): number {
  return Math.min(rules.longestBackoffMs, rules.firstBackoffMs * 2 ** (attemptsHere - 1)) * random;
}

/** From the least to the most telling, where several attempts failed in different ways. */
const BY_MEANING = [
  'insufficient_quota',
  'upstream_auth',
  'upstream_error',
  'timeout',
  'overloaded',
  'rate_limit_exceeded',
] as const;

/**
 * Of several failures the one that tells the caller most: what it can do something about before what it can wait for, that before
 * what is broken, and our own accounts last. Of equals the later one.
 */
export function mostMeaningful<T extends { readonly code: string }>(failures: readonly T[]): T | undefined {
  let best: T | undefined;
  for (const next of failures) if (best === undefined || rank(next) >= rank(best)) best = next;
  return best;
}

function rank({ code }: { readonly code: string }): number {
  const place = BY_MEANING.findIndex((known) => known === code);
  return place === -1 ? BY_MEANING.length : place;
}
