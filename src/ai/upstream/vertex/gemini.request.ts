import { createHash } from 'node:crypto';
import type { JsonObject } from '../../wire/json-value.js';
import { endUserOf, type KnownMembers, refuseUnknown } from '../openai.request.js';
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
  refuseUnknown(body, KNOWN);
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

const KNOWN: KnownMembers = {
  translated: ['seed', 'n', 'presence_penalty', 'frequency_penalty', 'logprobs', 'top_logprobs'],
  sayingNothing: { metadata: [{}], service_tier: ['auto', 'default'] },
};

/** What a label of Google Cloud may hold. */
const LABEL = /^[\p{Ll}\p{Lo}\p{N}_-]{1,63}$/u;

/**
 * The end user, whom OpenAI wants to be named for the detection of abuse, as a label. What is no label stands there as its digest:
 * it names the same user all the same.
 */
function labels(body: JsonObject): JsonObject {
  const user = endUserOf(body);
  if (user === undefined) return {};
  return { labels: { user: LABEL.test(user) ? user : createHash('sha256').update(user).digest('hex').slice(0, 63) } };
}
