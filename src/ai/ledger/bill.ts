import type { PriceSettings } from '../../config/index.js';
import { priceOf, type Usage } from '../call/cost.js';
import { member } from '../wire/json-value.js';
import { type LedgerEntry, NANO_PER_USD, type TokenSums } from './ledger.entry.js';

/** What is known of an answered, broken or failed call when it is over. */
export interface CallOutcome {
  /** The provider's last word, zeros included; undefined: it told none. */
  readonly usage: Usage | undefined;
  /** Of the completion's tokens, by the provider. Default 0. */
  readonly reasoningTokens?: number;
  /** Our count of the prompt. Asked for where the provider told nothing only. */
  readonly promptTokens: number;
  /** Our count of what came of the answer: text, thoughts, refusals, tool calls. Never of an error's text. */
  readonly deliveredTokens: number;
  /** It came to its regular end. */
  readonly isComplete: boolean;
  /** Of the deployment that was called; undefined: it has none. */
  readonly prices: PriceSettings | undefined;
}

export type Bill = TokenSums & Pick<LedgerEntry, 'costNanoUsd' | 'isEstimated'>;

const NOTHING: Bill = Object.freeze({
  promptTokens: 0,
  cachedTokens: 0,
  completionTokens: 0,
  reasoningTokens: 0,
  costNanoUsd: 0,
  isEstimated: false,
});

/**
 * What a call is billed. The provider's usage holds, also where it is 0 and much was delivered. Where it told none: what was
 * delivered, by our own count, and the prompt; a call that failed before it delivered anything costs nothing.
 */
export function billOf(outcome: CallOutcome): Bill {
  const { usage, prices, promptTokens, deliveredTokens, isComplete, reasoningTokens = 0 } = outcome;
  if (usage !== undefined) return priced(usage, prices, { isEstimated: false, reasoningTokens });
  if (deliveredTokens === 0 && !isComplete) return NOTHING;
  const counted = { promptTokens, cachedTokens: 0, completionTokens: deliveredTokens };
  return priced(counted, prices, { isEstimated: true, reasoningTokens: 0 });
}

/** What a follower or a hit is billed: one request. */
export const FREE_BILL: Bill = NOTHING;

/**
 * Reads how many tokens an OpenAI `usage` object says were thought and not said; 0 where it does not.
 *
 * @param completionTokens - of which they are a part: what contradicts that is cut to it
 */
export function readReasoningTokens(usage: unknown, completionTokens: number): number {
  const count = member(member(usage, 'completion_tokens_details'), 'reasoning_tokens');
  const isCount = typeof count === 'number' && Number.isSafeInteger(count) && count >= 0;
  return isCount ? Math.min(count, completionTokens) : 0;
}

function priced(
  usage: Usage,
  prices: PriceSettings | undefined,
  { isEstimated, reasoningTokens }: { readonly isEstimated: boolean; readonly reasoningTokens: number },
): Bill {
  const { promptTokens, cachedTokens, completionTokens } = usage;
  // Nothing of something without a price costs nothing.
  const costUsd = promptTokens + completionTokens === 0 ? 0 : priceOf(usage, prices);
  const costNanoUsd = costUsd === undefined ? undefined : Math.round(costUsd * NANO_PER_USD);
  return { promptTokens, cachedTokens, completionTokens, reasoningTokens, isEstimated, costNanoUsd };
}
