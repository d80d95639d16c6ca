import type { BookedEntry, LedgerEntry } from './ledger.entry.js';
import type { PeriodName } from './ledger.periods.js';
import type { SumsByModel } from './ledger.sums.js';

/**
 * What calls have cost, kept by caller: an entry for each, and the sums of each day and month of UTC. There are two implementations
 * with the same answers: Lua on Redis, and one in this process.
 */
export interface LedgerStore {
  /**
   * Books calls of one caller, each in the log and in its sums at once. One that is booked already is left out, for as long as ids
   * are remembered. Where it fails, some of the calls may be booked: who tries again loses and doubles none.
   *
   * @returns how many of them were new
   * @throws StoreError
   */
  book(caller: string, entries: readonly LedgerEntry[]): Promise<number>;
  /** By the order of the names. @throws StoreError */
  sums(caller: string, periods: readonly PeriodName[]): Promise<readonly SumsByModel[]>;
  /** A part of the log, in the order of the ids. @throws StoreError */
  page(caller: string, question: PageQuestion): Promise<LedgerPage>;
}

export interface PageQuestion {
  /** Calls that ended then or later, Unix ms; those that are kept no longer are left out. */
  readonly from: number;
  /** And before this, Unix ms. */
  readonly to: number;
  /** Only what follows this id. */
  readonly after?: string;
  /** How many entries of the log are looked at. */
  readonly limit: number;
}

export interface LedgerPage {
  /** May be none although more follow: calls are booked in another order than they ended in. */
  readonly entries: readonly BookedEntry[];
  /** To be asked for next; undefined: nothing follows. */
  readonly next?: string;
}

/** The log's own ids: milliseconds of the store's clock, and a number. */
export const ENTRY_ID = /^\d{1,16}-\d{1,16}$/;

/** Injection token of the ledger's store. */
export const LEDGER_STORE = Symbol('LEDGER_STORE');
