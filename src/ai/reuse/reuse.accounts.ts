import type { CompletionCall } from '../call/completion-call.js';

/**
 * Where calls that are answered with somebody else's answer are counted: one request of the caller's, no tokens, no cost. Those that
 * make a call of their own are counted where it is made, and not here.
 */
export interface ReuseAccounts {
  /** Right before the answer is given. @throws ApiError where the caller has no request left */
  count(call: CompletionCall, outcome: 'hit' | 'joined'): Promise<void>;
}

/** Injection token. */
export const REUSE_ACCOUNTS = Symbol('REUSE_ACCOUNTS');

/** Counts nothing. */
export const NO_ACCOUNTS: ReuseAccounts = { count: () => Promise.resolve() };
