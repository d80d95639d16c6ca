import type { JsonObject } from '../../wire/json-value.js';
import { isGiven, NO_COUNTERPART, UntranslatableError } from '../untranslatable.error.js';

interface Effort {
  /** Tokens, for Gemini 2.5. */
  readonly budget: number;
  /** For Gemini 3 and later, which can't be told not to think: its least is nearly that. */
  readonly level: 'MINIMAL' | 'LOW' | 'MEDIUM' | 'HIGH';
}

/** As Google's own translation of OpenAI's format has it (https://ai.google.dev/gemini-api/docs/openai#thinking). */
const EFFORTS: ReadonlyMap<unknown, Effort> = new Map<unknown, Effort>([
  ['none', { budget: 0, level: 'MINIMAL' }],
  ['minimal', { budget: 1_024, level: 'MINIMAL' }],
  ['low', { budget: 1_024, level: 'LOW' }],
  ['medium', { budget: 8_192, level: 'MEDIUM' }],
  ['high', { budget: 24_576, level: 'HIGH' }],
]);

/**
 * How much the model is to think. Whoever says so is shown what it thought.
 *
 * @throws UntranslatableError
 */
export function thinkingConfig(effort: unknown, model: string): JsonObject {
  if (!isGiven(effort)) return {};
  const found = EFFORTS.get(effort);
  if (found === undefined)
    throw new UntranslatableError('reasoning_effort', `${JSON.stringify(effort)} ${NO_COUNTERPART}`);
  const amount = takesLevels(model) ? { thinkingLevel: found.level } : { thinkingBudget: found.budget };
  return { thinkingConfig: { ...amount, ...(effort !== 'none' && { includeThoughts: true }) } };
}

/** Gemini 3 and later: they are told a level of thinking, and check that signatures of thoughts come back with tool calls. */
export function takesLevels(model: string): boolean {
  const generation = /(?:^|\/)gemini-(\d+)/.exec(model)?.[1];
  return generation !== undefined && Number(generation) >= 3;
}
