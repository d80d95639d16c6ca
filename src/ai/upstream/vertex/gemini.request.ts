import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { entryOf, type JsonObject } from '../../wire/json-value.js';
import { isGiven, refuseOthers, textOf, UntranslatableError } from '../untranslatable.error.js';
import { conversationOf } from './conversation.translator.js';
import { generationConfig } from './generation.config.js';
import { toolMembers } from './tool.translator.js';

/**
 * An OpenAI chat completion request as a request to `generateContent`
 * (https://cloud.google.com/vertex-ai/generative-ai/docs/model-reference/inference).
 *
 * @param model - its name there: generations of Gemini differ in how they are told to think
 * @throws UntranslatableError for the first member that has no counterpart there
 */
export function geminiRequest(body: JsonObject, model: string): JsonObject {
  refuseUnknown(body);
  const { system, contents, mediaResolution } = conversationOf(body['messages'], model);
  const config = { ...generationConfig(body, model), ...(mediaResolution !== undefined && { mediaResolution }) };
  return {
    ...(system.length > 0 && { systemInstruction: { parts: system } }),
    contents,
    ...toolMembers(body),
    ...(Object.keys(config).length > 0 && { generationConfig: config }),
    ...labels(body),
  };
}

/** Read by the functions that this one calls, or by the adapter. */
const TRANSLATED = [
  'model',
  'messages',
  'stream',
  'stream_options',
  'max_tokens',
  'max_completion_tokens',
  'temperature',
  'top_p',
  'stop',
  'seed',
  'n',
  'presence_penalty',
  'frequency_penalty',
  'logprobs',
  'top_logprobs',
  'response_format',
  'reasoning_effort',
  'tools',
  'tool_choice',
  'user',
  'safety_identifier',
];

/** Values that ask for nothing: OpenAI's defaults, which clients like to spell out. */
const SAYING_NOTHING: Readonly<Partial<Record<string, readonly unknown[]>>> = {
  logit_bias: [{}],
  store: [false],
  metadata: [{}],
  modalities: [['text']],
  verbosity: ['medium'],
  service_tier: ['auto', 'default'],
  parallel_tool_calls: [true],
  functions: [[]],
};

function refuseUnknown(body: JsonObject): void {
  const asking = Object.fromEntries(
    Object.entries(body).filter(
      ([name, value]) => entryOf(SAYING_NOTHING, name)?.some((nothing) => isDeepStrictEqual(nothing, value)) !== true,
    ),
  );
  refuseOthers(asking, '', TRANSLATED);
}

/** What a label of Google Cloud may hold. */
const LABEL = /^[\p{Ll}\p{Lo}\p{N}_-]{1,63}$/u;

/**
 * The end user, whom OpenAI wants to be named for the detection of abuse, as a label. What is no label stands there as its digest:
 * it names the same user all the same.
 */
function labels(body: JsonObject): JsonObject {
  const { user, safety_identifier: identifier } = body;
  if (isGiven(user) && isGiven(identifier) && user !== identifier)
    throw new UntranslatableError('user', 'is said twice, and differently');
  const name = identifier ?? user;
  if (!isGiven(name)) return {};
  const text = textOf(name, isGiven(identifier) ? 'safety_identifier' : 'user');
  return { labels: { user: LABEL.test(text) ? text : createHash('sha256').update(text).digest('hex').slice(0, 63) } };
}
