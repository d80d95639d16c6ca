const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

/** How long and how much the ledger keeps. */
export interface LedgerLimits {
  /** How long an entry and a day's sums are kept, ms. Default 35 days. */
  readonly keepMs: number;
  /**
   * How many entries of one caller are kept; of more the oldest go. Redis drops them by the block, so it may have some more. Default
   * 1,000,000, and 10,000 where they are kept in this process.
   */
  readonly mostEntries: number;
}

export const LEDGER_LIMITS: LedgerLimits = Object.freeze({ keepMs: 35 * DAY_MS, mostEntries: 1_000_000 });

export const MOST_IN_MEMORY = 10_000;

/** How long a month's sums are kept after the last call in it, ms: the same month of the year before is still there. */
export const MONTHS_KEPT_MS = 400 * DAY_MS;

/** How long a call may wait for the store before it is given up, ms. */
export const LATEST_MS = 10 * MINUTE_MS;

/** How long the id of a booked call is remembered, ms: longer than anybody tries to book it again. */
export const IDS_KEPT_MS = LATEST_MS + 5 * MINUTE_MS;

/** How far the clocks of the pods may be ahead of the store's, ms. */
export const SKEW_MS = MINUTE_MS;
