/** What calls take of a quota, at most where that is known. */
export interface QuotaNeed {
  readonly requests: number;
  readonly promptTokens: number;
  readonly outputTokens: number;
  readonly costUsd: number;
}

export const NO_NEED: QuotaNeed = { requests: 0, promptTokens: 0, outputTokens: 0, costUsd: 0 };

/** @param times - -1: the second less */
export function plus(one: QuotaNeed, other: QuotaNeed, times: 1 | -1 = 1): QuotaNeed {
  return {
    requests: one.requests + times * other.requests,
    promptTokens: one.promptTokens + times * other.promptTokens,
    outputTokens: one.outputTokens + times * other.outputTokens,
    costUsd: one.costUsd + times * other.costUsd,
  };
}
