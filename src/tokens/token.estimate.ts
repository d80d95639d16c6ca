import type { CountOptions, TokenCount, TokenizerOptions } from './token-counter.js';
import type { TokenCounters } from './token.counters.js';

export interface EstimateOptions extends CountOptions {
  /** The factor that the provider's own numbers have shown (see {@link observedRatio}), > 0; takes the place of the tokenizer's ratio. */
  readonly calibration?: number;
}

/**
 * What a model will bill for a Chat Completions body.
 *
 * @throws RangeError when the factor is not a positive number; the signal's reason.
 * @example
 * const { tokens, isEstimate } = await estimateTokens(counters, model.tokenizer, body, { calibration: fleet.ratioOf(model.name) });
 */
export function estimateTokens(
  counters: TokenCounters,
  tokenizer: TokenizerOptions,
  body: unknown,
  { calibration = tokenizer.ratio, ...options }: EstimateOptions = {},
): Promise<TokenCount> {
  return counters.for({ ...tokenizer, ratio: calibration }).countRequest(body, options);
}

/**
 * What one answered request says about a model's ratio: the provider's `prompt_tokens` for each token of our count. Undefined where it says nothing: the
 * count was an upper bound, or attachments, whose allowance is one too, are in it.
 */
export function observedRatio(count: TokenCount, promptTokens: number): number | undefined {
  const isTelling = !count.isEstimate && count.attachmentTokens === 0 && count.textTokens > 0;
  return isTelling && Number.isFinite(promptTokens) && promptTokens > 0 ? promptTokens / count.textTokens : undefined;
}
