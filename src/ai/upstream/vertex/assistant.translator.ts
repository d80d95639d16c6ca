import type { JsonObject } from '../../wire/json-value.js';
import { passOverReasoning, passOverThinkingBlocks, REASONING } from '../foreign-signatures.js';
import { withoutEmptyLists } from '../openai.request.js';
import { callsOf, type WrittenCall } from '../openai.tools.js';
import { isGiven, refuseOthers, textOf } from '../untranslatable.error.js';
import { textPartsOf } from './part.translator.js';
import { signatureIn } from './thought-signature.js';
import { takesLevels } from './thinking.js';

/**
 * Says that a call was not made by the model that reads it now: for calls without a signature, which another model made or a client
 * has lost (https://ai.google.dev/gemini-api/docs/thought-signatures).
 */
const NO_SIGNATURE = 'skip_thought_signature_validator';

const MEMBERS = ['role', 'content', 'refusal', 'tool_calls', 'extra_content', 'thinking_blocks', ...REASONING];

/** What the model said and called, and what it thought where Gemini signed it. @throws UntranslatableError */
export function assistantParts(message: JsonObject, path: string, model: string): readonly JsonObject[] {
  refuseOthers(withoutEmptyLists(message), `${path}.`, MEMBERS);
  passOverThinkingBlocks(message['thinking_blocks'], `${path}.thinking_blocks`);
  passOverReasoning(message, path);
  const parts = [...spoken(message, path), ...callsOf(message['tool_calls'], `${path}.tool_calls`).map(callPart)];
  const { reasoning_content: thought } = message;
  const isOwn = parts.some(({ thoughtSignature }) => thoughtSignature !== undefined);
  const thoughts = isOwn && isGiven(thought) && thought !== '' ? [{ text: thought, thought: true }] : [];
  return [...thoughts, ...(takesLevels(model) ? withSignature(parts) : parts)];
}

/** The signature of a text came at its end, and goes back there. */
function spoken(message: JsonObject, path: string): readonly JsonObject[] {
  const refusal = isGiven(message['refusal']) ? textOf(message['refusal'], `${path}.refusal`) : '';
  const texts = textPartsOf(message['content'], `${path}.content`);
  const parts = refusal === '' ? texts : [...texts, { text: refusal }];
  const thoughtSignature = signatureIn(message['extra_content'], `${path}.extra_content`);
  if (thoughtSignature === undefined) return parts;
  return [...parts.slice(0, -1), { ...(parts.at(-1) ?? { text: '' }), thoughtSignature }];
}

function callPart({ name, input, extra, path }: WrittenCall): JsonObject {
  const thoughtSignature = signatureIn(extra, `${path}.extra_content`);
  return { functionCall: { name, args: input }, ...(thoughtSignature !== undefined && { thoughtSignature }) };
}

/** Of calls that were made together only the first is signed. */
function withSignature(parts: readonly JsonObject[]): readonly JsonObject[] {
  const first = parts.findIndex(({ functionCall }) => functionCall !== undefined);
  return parts.map((part, index) => (index === first ? { thoughtSignature: NO_SIGNATURE, ...part } : part));
}
