import type { CacheOutcome } from '../call/completion-call.js';

/** Told of what is reused; must not throw. */
export interface ReuseObserver {
  /** A call met the cache. @param model - catalogue name of the model that answered */
  met(outcome: CacheOutcome, model: string): void;
  /** A call waits for another one's answer. @returns to be called when it does no longer */
  waits(): () => void;
  /** The store did not answer: nothing is found or kept, and nobody is joined in other pods. */
  storeLost(error: unknown): void;
}

export const SILENT_REUSE_OBSERVER: ReuseObserver = {
  met: () => undefined,
  waits: () => () => undefined,
  storeLost: () => undefined,
};
