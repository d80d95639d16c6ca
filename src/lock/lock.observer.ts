import type { LeaseEnd } from './lock.errors.js';

/**
 * What metrics may learn. Locks go by their template, a name that the developer gave to their kind, never by the key. What it
 * throws harms no lock: see guardedObserver().
 */
export interface LockObserver {
  /** A wait began (1) or ended (-1): the sum is how many wait in this process. */
  waiting(template: string, change: 1 | -1): void;
  /** A wait is over. `isContended`: somebody else had the lock when it began. */
  waited(
    template: string,
    wait: { readonly outcome: WaitOutcome; readonly waitMs: number; readonly isContended: boolean },
  ): void;
  /** A hold is over; any end but `released` is a loss. */
  held(template: string, hold: { readonly end: LeaseEnd; readonly holdMs: number }): void;
}

/** given_up: by the caller's signal, the shutdown, or the loss of another key of the same wish */
export type WaitOutcome = 'granted' | 'busy' | 'timeout' | 'given_up' | 'failed';

/** Where nobody looks. */
export const SILENT_OBSERVER: LockObserver = {
  waiting: () => undefined,
  waited: () => undefined,
  held: () => undefined,
};

/** Keeps the number of metrics bounded where templates turn out to be made of data. */
const MAX_TEMPLATES = 200;

/** Names kinds of locks for metrics. */
export class KeyTemplates {
  readonly #known = new Set<string>();

  /** @param template the developer's own name, or the method's. Nothing of a key: any part of it may be data of users */
  of(template = '*'): string {
    if (this.#known.has(template)) return template;
    if (this.#known.size >= MAX_TEMPLATES) return 'other';
    this.#known.add(template);
    return template;
  }
}
