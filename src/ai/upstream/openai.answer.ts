import { saysSomething } from '../wire/chat-chunk.js';
import { isObject, type JsonObject } from '../wire/json-value.js';
import { MalformedStreamError } from '../wire/sse.reader.js';
import { brokenUpstream, uselessAnswer } from './failure.classifier.js';
import { isGiven } from './untranslatable.error.js';

/** https://platform.openai.com/docs/api-reference/chat/object */
const KNOWN_ENDS: readonly unknown[] = ['stop', 'length', 'tool_calls', 'content_filter', 'function_call'];

/**
 * Ends that are none: OpenRouter's `error`, the `abort` of vLLM and SGLang, DeepSeek's `insufficient_system_resource`, Zhipu's
 * `network_error`, and their kin.
 */
const FAILURE = /error|abort|cancel|fail|insufficient|time_?out|overload/i;

/** The choices of an answer or a chunk; none where there are none. @throws MalformedStreamError for what is no list of choices */
export function choicesIn(value: JsonObject): readonly JsonObject[] {
  const choices = value['choices'] ?? [];
  if (!Array.isArray(choices) || !choices.every(isObject)) throw new MalformedStreamError('choices that are none');
  return choices;
}

/**
 * Whether a choice has come to its end. Words that nobody knows yet are an end where something was said; where nothing was, they tell of an
 * answer that is of no use.
 *
 * @param hasSaid - there was text, a call, a refusal or a thought
 * @throws UpstreamFailure for an end that tells of a failure, MalformedStreamError for a reason that is no word
 */
export function hasEnded(provider: string, choice: JsonObject, hasSaid: boolean, usage?: unknown): boolean {
  const reason = choice['finish_reason'];
  // Some servers write an empty one until there is one.
  if (!isGiven(reason) || reason === '') return false;
  if (typeof reason !== 'string') throw new MalformedStreamError('a finish_reason that is no word');
  if (KNOWN_ENDS.includes(reason)) return true;
  const word = /^[\w-]{1,64}$/.test(reason) ? reason : 'no word that is known';
  if (FAILURE.test(reason)) throw brokenUpstream(provider, `ended its answer with a failure: ${word}`);
  if (!hasSaid)
    throw uselessAnswer(provider, `ended its answer before it began: ${word}`, isObject(usage) ? usage : undefined);
  return true;
}

/** @throws UpstreamFailure for a failure in its place, MalformedStreamError for what is no whole chat completion */
export function checkedCompletion(provider: string, value: JsonObject | undefined): JsonObject {
  const choices = value === undefined ? [] : choicesIn(value);
  if (value === undefined || choices.length === 0 || !choices.every(hasMessage))
    throw new MalformedStreamError('an answer without a message');
  for (const choice of choices) hasEnded(provider, choice, saysSomething(choice['message']), value['usage']);
  return value;
}

/** Its content may be anything, also null beside calls, but there must be a word of it. */
function hasMessage({ message }: JsonObject): boolean {
  return isObject(message) && Object.keys(message).some((key) => key !== 'role');
}
