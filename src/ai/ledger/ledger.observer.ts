/** Why a call is not in the ledger: too many waited, the store was away for too long, or until the end. */
export type LossReason = 'overflow' | 'late' | 'shutdown';

/** What metrics and the log may learn. Must not throw. */
export interface LedgerObserver {
  booked(calls: number): void;
  lost(calls: number, reason: LossReason): void;
  /** How many calls wait to be booked. */
  pending(calls: number): void;
  /** The first failure since the store answered last. */
  storeLost(error: unknown): void;
  storeBack(): void;
}

/** Where nobody looks. */
export const SILENT_LEDGER_OBSERVER: LedgerObserver = {
  booked: () => undefined,
  lost: () => undefined,
  pending: () => undefined,
  storeLost: () => undefined,
  storeBack: () => undefined,
};
