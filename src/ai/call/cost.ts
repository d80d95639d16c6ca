import type { PriceSettings } from '../../config/index.js';
import { editObject } from '../wire/json-text.js';
import { member } from '../wire/json-value.js';

/** What a provider says it counted, in OpenAI's shape. Tokens read from a cache or written to one are a part of the prompt's. */
export interface Usage {
  readonly promptTokens: number;
  /** Read from the provider's cache. */
  readonly cachedTokens: number;
  /** Written to it; undefined: none was told of. */
  readonly cacheWriteTokens?: number;
  /** Of them those that it keeps for an hour. */
  readonly cacheWrite1hTokens?: number;
  readonly completionTokens: number;
  /** It was served at a tier whose prices nobody has told. */
  readonly isOfOtherTier?: true;
}

/** The tiers that a deployment's prices are for; OpenAI's others cost half (`flex`) or twice as much (`priority`). */
const PRICED_TIERS: readonly unknown[] = [undefined, null, 'default', 'auto', 'standard', 'on_demand'];

/**
 * Reads an OpenAI `usage` object; undefined where it is absent or its numbers are none.
 *
 * @param tier - the answer's `service_tier`: what it was served at, whatever was asked for
 */
export function readUsage(value: unknown, tier?: unknown): Usage | undefined {
  const promptTokens = tokenCount(value, 'prompt_tokens');
  const completionTokens = tokenCount(value, 'completion_tokens');
  if (promptTokens === undefined || completionTokens === undefined) return undefined;
  return {
    promptTokens,
    completionTokens,
    ...cacheCounts(member(value, 'prompt_tokens_details'), promptTokens),
    ...(!PRICED_TIERS.includes(tier) && { isOfOtherTier: true }),
  };
}

/** What a call is billed, USD; undefined where there is no price for it: none is better than a wrong one. */
export function priceOf(usage: Usage | undefined, prices: PriceSettings | undefined): number | undefined {
  return usage === undefined || prices === undefined || usage.isOfOtherTier ? undefined : costUsd(usage, prices);
}

/**
 * The text of a `usage` member with its cost; as it is where there is none to tell.
 *
 * @param text - undefined: there is no such member
 */
export function pricedUsage(text: string | undefined, cost: number | undefined): string | undefined {
  return cost !== undefined && text?.startsWith('{') === true ? editObject(text, { cost: String(cost) }) : text;
}

/** USD, exact to 1e-9: the sum is made of whole token counts before the one division by a million. */
export function costUsd(usage: Usage, prices: PriceSettings): number {
  const { promptTokens, cachedTokens, cacheWriteTokens = 0, cacheWrite1hTokens = 0, completionTokens } = usage;
  const { input, cachedInput, cacheWrite = input, cacheWrite1h = cacheWrite, output } = prices;
  const perMillion =
    (promptTokens - cachedTokens - cacheWriteTokens) * input +
    cachedTokens * cachedInput +
    (cacheWriteTokens - cacheWrite1hTokens) * cacheWrite +
    cacheWrite1hTokens * cacheWrite1h +
    completionTokens * output;
  return Number((perMillion / 1_000_000).toFixed(9));
}

/** What a part of a whole says of itself never exceeds the whole: a bill is not guessed from counts that contradict each other. */
function cacheCounts(
  details: unknown,
  promptTokens: number,
): Pick<Usage, 'cachedTokens' | 'cacheWriteTokens' | 'cacheWrite1hTokens'> {
  const cachedTokens = Math.min(tokenCount(details, 'cached_tokens') ?? 0, promptTokens);
  const cacheWriteTokens = Math.min(tokenCount(details, 'cache_write_tokens') ?? 0, promptTokens - cachedTokens);
  if (cacheWriteTokens === 0) return { cachedTokens };
  const forAnHour = Math.min(tokenCount(details, 'cache_write_1h_tokens') ?? 0, cacheWriteTokens);
  return { cachedTokens, cacheWriteTokens, ...(forAnHour > 0 && { cacheWrite1hTokens: forAnHour }) };
}

function tokenCount(value: unknown, key: string): number | undefined {
  const count = member(value, key);
  return typeof count === 'number' && Number.isSafeInteger(count) && count >= 0 ? count : undefined;
}
