/** How a call ended: a whole answer, a part of one, none; from the cache; or together with an identical call. */
export const CALL_ENDS = ['complete', 'partial', 'failed', 'hit', 'joined'] as const;
export type CallEnd = (typeof CALL_ENDS)[number];

/** Tokens of a call, by the provider's own count or, where it gave none, by ours. */
export interface TokenSums {
  readonly promptTokens: number;
  /** Of the prompt's those that the provider read from its cache. */
  readonly cachedTokens: number;
  readonly completionTokens: number;
  /** Of the completion's those that were thought and not said, as far as the provider tells. */
  readonly reasoningTokens: number;
}

/** What one call of ours was, and what it cost its caller: the whole chain of attempts together. */
export interface LedgerEntry extends TokenSums {
  /** Of this call and no other, e.g. a UUID: however often it is booked, it counts once. */
  readonly callId: string;
  /** When it ended, Unix ms, by the clock of the process that took it. */
  readonly at: number;
  readonly requestId: string;
  /** The name that the caller asked for. */
  readonly requested: string;
  /** The catalogue name of the model that answered, or was tried last; undefined: nobody was. */
  readonly model?: string | undefined;
  readonly provider?: string | undefined;
  readonly deployment?: string | undefined;
  readonly end: CallEnd;
  /** The error's code, where it could not be completed. */
  readonly code?: string | undefined;
  /** Whole billionths of a dollar, which every price times a number of tokens comes to; undefined: unpriced. */
  readonly costNanoUsd?: number | undefined;
  /** The provider told no usage: tokens and cost are by our own count. */
  readonly isEstimated: boolean;
  /** Calls of providers. */
  readonly attempts: number;
  /** SHA-256 of the Idempotency-Key, hex. */
  readonly idempotencyKeyHash?: string | undefined;
}

/** An entry as the ledger has it. */
export interface BookedEntry extends LedgerEntry {
  /** Its place in the ledger: rises from entry to entry of one caller, also where calls are booked late. */
  readonly id: string;
}

export const NANO_PER_USD = 1_000_000_000;

/** The entry with numbers that can be added up: whole and not negative, 0 for what is none. One odd number must not keep others out. */
export function withWholeNumbers(entry: LedgerEntry): LedgerEntry {
  const { at, promptTokens, cachedTokens, completionTokens, reasoningTokens, costNanoUsd, attempts } = entry;
  return {
    ...entry,
    at: wholeOf(at),
    promptTokens: wholeOf(promptTokens),
    cachedTokens: wholeOf(cachedTokens),
    completionTokens: wholeOf(completionTokens),
    reasoningTokens: wholeOf(reasoningTokens),
    costNanoUsd: costNanoUsd === undefined ? undefined : wholeOf(costNanoUsd),
    attempts: wholeOf(attempts),
  };
}

function wholeOf(value: number): number {
  return Number.isFinite(value) ? Math.min(Math.max(0, Math.round(value)), Number.MAX_SAFE_INTEGER) : 0;
}
