import type { JsonObject } from '../../wire/json-value.js';
import { answerFormatOf, outputLimitOf, stopSequencesOf } from '../openai.request.js';
import { isGiven, UntranslatableError } from '../untranslatable.error.js';
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
  // As OpenAI has it: the most likely tokens are told beside those that were chosen.
  if (isGiven(body['top_logprobs']) && body['top_logprobs'] !== 0 && body['logprobs'] !== true)
    throw new UntranslatableError('top_logprobs', 'wants logprobs to be true');
  const renamed = RENAMED.flatMap(([name, there, silent]) => {
    const value = body[name];
    return isGiven(value) && value !== silent ? [[there, value] as const] : [];
  });
  const maxOutputTokens = outputLimitOf(body);
  const stopSequences = stopSequencesOf(body['stop']);
  return {
    ...Object.fromEntries(renamed),
    ...(maxOutputTokens !== undefined && { maxOutputTokens }),
    ...(stopSequences.length > 0 && { stopSequences }),
    ...responseFormat(body['response_format']),
    ...thinkingConfig(body['reasoning_effort'], model),
  };
}

function responseFormat(asked: unknown): JsonObject {
  const format = answerFormatOf(asked);
  if (format === undefined) return {};
  const schema = format.type === 'json_schema' && { responseJsonSchema: format.schema };
  return { responseMimeType: 'application/json', ...schema };
}
