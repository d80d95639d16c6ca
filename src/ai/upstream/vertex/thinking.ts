import type { JsonObject } from '../../wire/json-value.js';
import { isGiven, NO_COUNTERPART, UntranslatableError } from '../untranslatable.error.js';

interface Effort {
  /** Tokens, for Gemini 2.5. */
  readonly budget: number;
  /** For Gemini 3 and later. */
  readonly level: 'MINIMAL' | 'LOW' | 'MEDIUM' | 'HIGH';
}

/** As Google's own translation of OpenAI's format has it (https://ai.google.dev/gemini-api/docs/openai#thinking). */
const EFFORTS: ReadonlyMap<unknown, Effort> = new Map<unknown, Effort>([
  // No model that takes levels takes this one.
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
  if (effort === 'none' && alwaysThinks(model))
    throw new UntranslatableError('reasoning_effort', `"none" can not be said to ${model}, which always thinks`);
  const amount = takesLevels(model) ? { thinkingLevel: levelOf(found, model) } : { thinkingBudget: found.budget };
  return { thinkingConfig: { ...amount, ...(effort !== 'none' && { includeThoughts: true }) } };
}

/** The large models know no less than a low level (https://ai.google.dev/gemini-api/docs/thinking#thinking-levels). */
function levelOf({ level }: Effort, model: string): Effort['level'] {
  return level === 'MINIMAL' && isPro(model) ? 'LOW' : level;
}

/** Gemini 2.5 Pro, and all of Gemini 3 and later: even their least thinking is some. */
function alwaysThinks(model: string): boolean {
  return takesLevels(model) || (isPro(model) && /(?:^|\/)gemini-2\.5-/.test(model));
}

function isPro(model: string): boolean {
  return /(?:^|\/)gemini-[\d.]+-pro\b/.test(model);
}

/** Gemini 3 and later: they are told a level of thinking, and check that signatures of thoughts come back with tool calls. */
export function takesLevels(model: string): boolean {
  const generation = /(?:^|\/)gemini-(\d+)/.exec(model)?.[1];
  return generation !== undefined && Number(generation) >= 3;
}
