import { UntranslatableError } from '../untranslatable.error.js';
import { entryOf } from '../../wire/json-value.js';

/** The least that may be thought, tokens: https://platform.claude.com/docs/en/build-with-claude/extended-thinking */
const LEAST_BUDGET = 1_024;

/** Which part of `max_tokens` an effort may think away, where the API wants a number: what OpenRouter takes for these words. */
const SHARES: Readonly<Partial<Record<string, number>>> = {
  minimal: 0.1,
  low: 0.2,
  medium: 0.5,
  high: 0.8,
  xhigh: 0.95,
  max: 0.95,
};

export interface ThinkingMembers {
  readonly thinking: unknown;
  readonly effort?: string;
}

/**
 * OpenAI's `reasoning_effort`. Models since 4.6 decide for themselves how much they think, led by an effort; those before it want a
 * budget, and know no other way.
 *
 * @throws UntranslatableError
 */
export function thinkingMembers(effort: unknown, model: string, maxTokens: number): ThinkingMembers {
  if (effort === 'none') return { thinking: { type: 'disabled' } };
  const share = typeof effort === 'string' ? entryOf(SHARES, effort) : undefined;
  if (typeof effort !== 'string' || share === undefined) {
    throw new UntranslatableError(
      'reasoning_effort',
      `${JSON.stringify(effort)} has no counterpart in the Messages API`,
    );
  }
  if (!wantsBudget(model)) return { thinking: { type: 'adaptive' }, effort: effort === 'minimal' ? 'low' : effort };
  if (maxTokens <= LEAST_BUDGET) {
    const why = `needs more than ${String(LEAST_BUDGET)} output tokens with this model`;
    throw new UntranslatableError('reasoning_effort', why);
  }
  const budget = Math.min(maxTokens - 1, Math.max(LEAST_BUDGET, Math.floor(maxTokens * share)));
  return { thinking: { type: 'enabled', budget_tokens: budget } };
}

/** Claude 3.7 to 4.5; a name that says no version is taken for a newer one. */
function wantsBudget(model: string): boolean {
  if (/claude-3\b/.test(model)) return true;
  const [, major, minor] = /claude-[a-z]+-(\d)(?:[-.](\d)(?!\d))?/.exec(model) ?? [];
  return major !== undefined && (Number(major) < 4 || (Number(major) === 4 && Number(minor ?? 0) < 6));
}
