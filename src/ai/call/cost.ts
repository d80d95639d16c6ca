import type { PriceSettings } from '../../config/index.js';
import { editObject } from '../wire/json-text.js';
import { member } from '../wire/json-value.js';

/** What a provider says it counted, in OpenAI's shape. Cached tokens are a part of the prompt's, not beside them. */
export interface Usage {
  readonly promptTokens: number;
  readonly cachedTokens: number;
  readonly completionTokens: number;
}

/** Reads an OpenAI `usage` object; undefined where it is absent or its numbers are none. */
export function readUsage(value: unknown): Usage | undefined {
  const promptTokens = tokenCount(value, 'prompt_tokens');
  const completionTokens = tokenCount(value, 'completion_tokens');
  if (promptTokens === undefined || completionTokens === undefined) return undefined;
  const cached = tokenCount(member(value, 'prompt_tokens_details'), 'cached_tokens');
  return { promptTokens, completionTokens, cachedTokens: Math.min(cached ?? 0, promptTokens) };
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
  const perMillion =
    (usage.promptTokens - usage.cachedTokens) * prices.input +
    usage.cachedTokens * prices.cachedInput +
    usage.completionTokens * prices.output;
  return Number((perMillion / 1_000_000).toFixed(9));
}

function tokenCount(value: unknown, key: string): number | undefined {
  const count = member(value, key);
  return typeof count === 'number' && Number.isSafeInteger(count) && count >= 0 ? count : undefined;
}
