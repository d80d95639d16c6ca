import { isObject, type JsonObject } from '../../ai/index.js';

/**
 * Fewer chunks that come to the same: neighbours that bring nothing but text become one. Readers get hundreds of events for an answer,
 * not thousands.
 */
export function coalesce(chunks: readonly JsonObject[]): readonly JsonObject[] {
  const merged: JsonObject[] = [];
  for (const chunk of chunks) {
    const last = merged.at(-1);
    const [before, more] = [last === undefined ? undefined : textOf(last), textOf(chunk)];
    if (last === undefined || before === undefined || more === undefined) merged.push(chunk);
    else merged[merged.length - 1] = withText(last, before + more);
  }
  return merged;
}

/** Of a chunk that brings text for the first choice and nothing else. */
function textOf({ choices, usage }: JsonObject): string | undefined {
  if (!Array.isArray(choices) || choices.length !== 1 || isObject(usage)) return undefined;
  const choice: unknown = choices[0];
  if (!isObject(choice) || isGiven(choice['finish_reason']) || isGiven(choice['logprobs'])) return undefined;
  const { delta } = choice;
  if (!isObject(delta) || typeof delta['content'] !== 'string') return undefined;
  const isOnlyText = Object.entries(delta).every(
    ([key, value]) => key === 'role' || key === 'content' || !isGiven(value),
  );
  return isOnlyText ? delta['content'] : undefined;
}

function withText(chunk: JsonObject, content: string): JsonObject {
  const choices = Array.isArray(chunk['choices']) ? chunk['choices'].filter(isObject) : [];
  return {
    ...chunk,
    choices: choices.map((choice) => ({
      ...choice,
      delta: { ...(isObject(choice['delta']) ? choice['delta'] : {}), content },
    })),
  };
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null;
}
