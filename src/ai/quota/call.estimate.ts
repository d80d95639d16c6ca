import type { ModelSettings, PriceSettings } from '../../config/index.js';

/** A count of a prompt is an estimate: it is taken for so much more … */
const PROMPT_FACTOR = 1.05;
/** … and so many tokens that the format may add. */
const PROMPT_EXTRA_TOKENS = 16;

/** What is known of a call before it is made. */
export interface CallSize {
  /** As counted; undefined: nobody has, since nothing depends on it. */
  readonly promptTokens: number | undefined;
  /** Of one answer; 0: the caller sets no limit. */
  readonly maxOutputTokens: number;
  /** Answers that are asked for. */
  readonly choices: number;
}

/** What a call is taken to use until it has. */
export interface CallEstimate {
  /** Of one answer. */
  readonly outputTokens: number;
  /** Prompt and answers. */
  readonly tokens: number;
  /** At most, as long as no answer is longer than `outputTokens`; undefined: the deployment has no price. */
  readonly microUsd: number | undefined;
}

/**
 * @param mostTokens - the smallest limit on tokens that the call must fit: an answer of unknown length is not taken for more than it leaves
 */
export function estimateOf(
  size: CallSize,
  model: ModelSettings,
  prices: PriceSettings | undefined,
  mostTokens = Number.POSITIVE_INFINITY,
): CallEstimate {
  const promptTokens = Math.ceil((size.promptTokens ?? 0) * PROMPT_FACTOR) + PROMPT_EXTRA_TOKENS;
  const outputTokens = outputOf(size, model, mostTokens - promptTokens);
  const answers = outputTokens * size.choices;
  return {
    outputTokens,
    tokens: promptTokens + answers,
    microUsd:
      prices === undefined ? undefined : Math.ceil(promptTokens * dearestInput(prices) + answers * prices.output),
  };
}

function outputOf({ maxOutputTokens, choices }: CallSize, model: ModelSettings, room: number): number {
  if (maxOutputTokens > 0) return Math.min(maxOutputTokens, model.maxOutputTokens);
  const fair = Math.min(model.expectedOutputTokens, model.maxOutputTokens);
  return Math.max(1, Math.min(fair, Math.floor(room / choices)));
}

/** A prompt that is written to the provider's cache may cost more than one that is not. */
function dearestInput({ input, cacheWrite = input, cacheWrite1h = cacheWrite }: PriceSettings): number {
  return Math.max(input, cacheWrite, cacheWrite1h);
}
