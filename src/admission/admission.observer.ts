import type { Booking } from './admission.store.js';

/**
 * granted · busy: no room within the wait · too_large: more than the limit allows at any time · budget · overloaded: too many wait
 * here · store: it did not answer and nothing is allowed without it · given_up: by the caller's signal, or the shutdown
 */
export type AdmissionOutcome = 'granted' | 'busy' | 'too_large' | 'budget' | 'overloaded' | 'store' | 'given_up';

/**
 * settled: with what it took · cancelled: it was never sent · expired: it was not settled within its time, and is booked as reserved ·
 * abandoned: it was open when the grace of the shutdown was over
 */
export type ReservationEnd = 'settled' | 'cancelled' | 'expired' | 'abandoned';

/** What metrics and the log may learn. `kind` is the wish's, one of a few. What it throws harms nothing: see guardedObserver(). */
export interface AdmissionObserver {
  /** A wait began (1) or ended (-1): the sum is how many wait in this process. */
  waiting(kind: string, change: 1 | -1): void;
  /** A wish was answered. `isLocal`: by this process's own share. */
  decided(
    kind: string,
    decision: { readonly outcome: AdmissionOutcome; readonly queueMs: number; readonly isLocal: boolean },
  ): void;
  ended(kind: string, end: { readonly end: ReservationEnd; readonly holdMs: number }): void;
  /** What commands of this process booked on the budgets of a scope; each amount is told once in the whole fleet. */
  booked(scope: string, booking: Booking): void;
  /** The first failure since the store answered last. */
  storeLost(error: unknown): void;
  /** It did not come back at once: from now on the rules for a store that is down hold. */
  storeAway(): void;
  storeBack(downForMs: number): void;
}

/** Where nobody looks. */
export const SILENT_ADMISSION_OBSERVER: AdmissionObserver = {
  waiting: () => undefined,
  decided: () => undefined,
  ended: () => undefined,
  booked: () => undefined,
  storeLost: () => undefined,
  storeAway: () => undefined,
  storeBack: () => undefined,
};
