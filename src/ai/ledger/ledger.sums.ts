import type { LedgerEntry, TokenSums } from './ledger.entry.js';

/** What is counted, by the names under which it is kept. */
export const COUNTERS = [
  'requests',
  'hits',
  'joined',
  'partial',
  'failed',
  'estimated',
  'unpriced',
  'promptTokens',
  'cachedTokens',
  'completionTokens',
  'reasoningTokens',
  'costNanoUsd',
] as const;
export type Counter = (typeof COUNTERS)[number];

/** Of many calls together. */
export interface Sums extends TokenSums, Readonly<Record<Counter, number>> {}

/** A period's calls, by model; the name is empty for those that no model was tried for. */
export type SumsByModel = ReadonlyMap<string, Sums>;

export const NO_SUMS: Sums = Object.freeze({
  requests: 0,
  hits: 0,
  joined: 0,
  partial: 0,
  failed: 0,
  estimated: 0,
  unpriced: 0,
  promptTokens: 0,
  cachedTokens: 0,
  completionTokens: 0,
  reasoningTokens: 0,
  costNanoUsd: 0,
});

/** More than any call can be of: what a provider got wrong must not make a sum that nobody can add to. */
const MOST_TOKENS = 1e12;
const MOST_NANO_USD = 1e14;

/** What one call adds. A call without a price is no free one: it is counted, so that a sum of costs says what it leaves out. */
export function sumsOf({ end, costNanoUsd, isEstimated, ...tokens }: LedgerEntry): Sums {
  return {
    requests: 1,
    hits: Number(end === 'hit'),
    joined: Number(end === 'joined'),
    partial: Number(end === 'partial'),
    failed: Number(end === 'failed'),
    estimated: Number(isEstimated),
    unpriced: Number(costNanoUsd === undefined),
    promptTokens: Math.min(tokens.promptTokens, MOST_TOKENS),
    cachedTokens: Math.min(tokens.cachedTokens, MOST_TOKENS),
    completionTokens: Math.min(tokens.completionTokens, MOST_TOKENS),
    reasoningTokens: Math.min(tokens.reasoningTokens, MOST_TOKENS),
    costNanoUsd: Math.min(costNanoUsd ?? 0, MOST_NANO_USD),
  };
}

export function addSums(one: Sums, other: Sums): Sums {
  const sum: Record<Counter, number> = { ...one };
  for (const counter of COUNTERS) sum[counter] += other[counter];
  return sum;
}
