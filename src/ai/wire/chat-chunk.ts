import { isObject, type JsonObject } from './json-value.js';

/** Reads of an OpenAI chat.completion.chunk, whose members a provider may leave out or send as null. */

/** True once the chunk carries something a user could see: text, a tool call, a refusal, reasoning, or the end of a choice. */
export function hasContent(chunk: JsonObject): boolean {
  return choicesOf(chunk).some((choice) => isFilled(choice['finish_reason']) || saysSomething(choice['delta']));
}

/** A chunk that is sent only for its usage: OpenAI's has `choices: []`, vLLM's may have `choices: null`. */
export function isUsageOnly(chunk: JsonObject): boolean {
  return isPresent(chunk['usage']) && choicesOf(chunk).length === 0;
}

/** Whether a delta, or a whole message, holds more than its role: text, a call, a refusal, a thought. */
export function saysSomething(delta: unknown): boolean {
  return isObject(delta) && Object.entries(delta).some(([key, value]) => key !== 'role' && isFilled(value));
}

function isFilled(value: unknown): boolean {
  return Array.isArray(value) ? value.length > 0 : isPresent(value) && value !== '';
}

function choicesOf(chunk: JsonObject): readonly JsonObject[] {
  const choices = chunk['choices'];
  return Array.isArray(choices) ? choices.filter(isObject) : [];
}

function isPresent(value: unknown): boolean {
  return value !== null && value !== undefined;
}
