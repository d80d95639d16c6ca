import type { ModelSettings } from '../../config/index.js';

/** A UTF-16 unit is at most three bytes of UTF-8, and no token is shorter than a byte. */
const TOKENS_PER_CHARACTER = 3;

/** What a request asks of a context window, tokens. */
export interface ContextNeed {
  /** Undefined: not counted. */
  readonly promptTokens: number | undefined;
  /** Length of the body's text: its bound where nobody has counted, characters. */
  readonly bodyLength: number;
  /** 0: the caller sets no limit, so the model takes what is left. */
  readonly maxOutputTokens: number;
}

/** Whether a request fits without being counted. */
export function surelyFits(model: ModelSettings, need: ContextNeed): boolean {
  return fits(model, { ...need, promptTokens: need.bodyLength * TOKENS_PER_CHARACTER });
}

/** Whether prompt and answer have room; the window is the prompt's alone where the model has separate limits. */
export function fits(model: ModelSettings, { promptTokens, maxOutputTokens }: ContextNeed): boolean {
  if (promptTokens === undefined) return true;
  const output = model.separateInputLimit ? 0 : Math.min(maxOutputTokens, model.maxOutputTokens);
  return promptTokens + output <= model.contextWindow;
}
