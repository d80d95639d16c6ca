import { isObject, type JsonObject } from '../../wire/json-value.js';
import { isGiven, NO_COUNTERPART, refuseOthers, UntranslatableError } from '../untranslatable.error.js';
import { thinkingConfig } from './thinking.js';

/** Told by another name only. A zero penalty is the default on both sides, and newer models refuse to be told any. */
const RENAMED: readonly (readonly [name: string, there: string, silent?: unknown])[] = [
  ['temperature', 'temperature'],
  ['top_p', 'topP'],
  ['seed', 'seed'],
  ['n', 'candidateCount', 1],
  ['presence_penalty', 'presencePenalty', 0],
  ['frequency_penalty', 'frequencyPenalty', 0],
  ['logprobs', 'responseLogprobs', false],
  ['top_logprobs', 'logprobs', 0],
];

/** @throws UntranslatableError */
export function generationConfig(body: JsonObject, model: string): JsonObject {
  const renamed = RENAMED.flatMap(([name, there, silent]) => {
    const value = body[name];
    return isGiven(value) && value !== silent ? [[there, value] as const] : [];
  });
  return {
    ...Object.fromEntries(renamed),
    ...outputLimit(body),
    ...stopSequences(body['stop']),
    ...responseFormat(body['response_format']),
    ...thinkingConfig(body['reasoning_effort'], model),
  };
}

/** The smaller one where a caller says both: so both are kept. */
function outputLimit(body: JsonObject): JsonObject {
  const limits = ['max_completion_tokens', 'max_tokens'].flatMap((name) => {
    const limit = body[name];
    if (!isGiven(limit)) return [];
    if (typeof limit !== 'number') throw new UntranslatableError(name, 'must be a number');
    return [limit];
  });
  return limits.length === 0 ? {} : { maxOutputTokens: Math.min(...limits) };
}

function stopSequences(stop: unknown): JsonObject {
  if (!isGiven(stop)) return {};
  const sequences: readonly unknown[] = Array.isArray(stop) ? stop : [stop];
  return sequences.length === 0 ? {} : { stopSequences: sequences };
}

/** A schema is always followed strictly there, and its name is a label for people. */
function responseFormat(format: unknown): JsonObject {
  if (!isGiven(format)) return {};
  if (!isObject(format)) throw new UntranslatableError('response_format', 'must be an object');
  switch (format['type']) {
    case 'text':
      return {};
    case 'json_object':
      return { responseMimeType: 'application/json' };
    case 'json_schema':
      return { responseMimeType: 'application/json', responseJsonSchema: schemaOf(format['json_schema']) };
    default:
      throw new UntranslatableError('response_format.type', `${JSON.stringify(format['type'])} ${NO_COUNTERPART}`);
  }
}

function schemaOf(described: unknown): JsonObject {
  const path = 'response_format.json_schema';
  if (!isObject(described) || !isObject(described['schema'])) throw new UntranslatableError(path, 'must hold a schema');
  refuseOthers(described, `${path}.`, ['name', 'description', 'schema', 'strict']);
  const { description, schema } = described;
  return isGiven(description) ? { description, ...schema } : schema;
}
