import type { Catalogue, JsonObject } from '../../ai/index.js';
import type { Caller } from '../../auth/index.js';
import type { ModelSettings } from '../../config/index.js';
import { ApiError } from '../../http/index.js';
import { promptBudget } from '../window/window.budget.js';

/** Which model a turn is asked of, and which its window is planned for. */
export interface TurnModel {
  /** As it was asked for. */
  readonly name: string;
  /** Who answers unless something stands in its way. */
  readonly settings: ModelSettings;
}

/**
 * The model that a request names, else the conversation's, else the first of the caller's tier.
 *
 * @throws ApiError model_not_found, model_not_allowed
 */
export function turnModel(catalogue: Catalogue, caller: Caller, names: readonly (string | undefined)[]): TurnModel {
  const ofTier = catalogue.modelsOf(caller.tier);
  const name = names.find((candidate) => candidate !== undefined) ?? ofTier[0]?.name;
  if (name === undefined) {
    throw new ApiError('model_not_allowed', `the tier ${caller.tier} has no models`, { param: 'model' });
  }
  const asked = catalogue.find(name);
  if (asked === undefined) {
    throw new ApiError('model_not_found', `the model "${name.slice(0, 256)}" does not exist`, { param: 'model' });
  }
  const settings = catalogue.isAllowed(asked, caller.tier) ? asked : (ofTier[0] ?? asked);
  return { name, settings };
}

/** A model's room for a prompt, tokens. */
export interface PromptRoom {
  readonly budget: number;
  readonly reservedOutput: number;
}

/** @param mostInput - the most that the configuration allows */
export function promptRoom(model: ModelSettings, parameters: JsonObject, mostInput: number): PromptRoom {
  const asked = outputLimit(parameters) ?? model.maxOutputTokens;
  const reservedOutput = Math.min(asked, model.maxOutputTokens);
  const budget = promptBudget({
    contextWindow: model.contextWindow,
    reservedOutput,
    hasSeparateInputLimit: model.separateInputLimit,
    isExact: isExact(model),
    mostInput,
  });
  return { budget, reservedOutput };
}

/** Whether the model's own encoding is counted by. */
export function isExact({ tokenizer }: ModelSettings): boolean {
  return tokenizer.encoding === 'o200k' && tokenizer.ratio === 1;
}

function outputLimit(parameters: JsonObject): number | undefined {
  const given = parameters['max_completion_tokens'] ?? parameters['max_tokens'];
  return typeof given === 'number' ? given : undefined;
}
