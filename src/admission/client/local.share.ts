import type { ScopeRules } from '../admission.rules.js';
import type { LearnedLimit } from '../admission.store.js';

/** In so many buckets a window is kept: calls of all scopes are counted there, outage or not, which is not to take much memory. */
const BUCKETS = 60;

/**
 * What one of `pods` processes may use of a scope while none of them knows of the others.
 * @returns undefined where nothing may be used without the store: a budget counts what all have spent, and a share below one call
 *   is none
 */
export function localShare(rules: ScopeRules, pods: number): ScopeRules | undefined {
  if (rules.budgets.length > 0) return undefined;
  const share = (limit: number | undefined): number | undefined =>
    limit === undefined ? undefined : Math.floor(limit / pods);
  const concurrency = share(rules.concurrency);
  const windows = rules.windows.map((window) => ({
    ...window,
    requests: share(window.requests),
    tokens: share(window.tokens),
    bucketMs: Math.ceil((window.spanMs + rules.lookAheadMs) / BUCKETS),
  }));
  const isNothing = concurrency === 0 || windows.some(({ requests, tokens }) => requests === 0 || tokens === 0);
  return isNothing ? undefined : { ...rules, windows, concurrency };
}

/** The same of what an upstream told, but one call at least: it holds for a while only. */
export function learnedShare(limits: readonly LearnedLimit[], pods: number): readonly LearnedLimit[] {
  const share = (limit: number | undefined): number | undefined => limit && Math.max(1, Math.floor(limit / pods));
  return limits.map(({ windowMs, requests, tokens }) => ({
    windowMs,
    requests: share(requests),
    tokens: share(tokens),
  }));
}
