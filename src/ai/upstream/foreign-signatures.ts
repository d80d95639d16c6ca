import { type Edit, editItems, editObject } from '../wire/json-text.js';
import { isObject, type JsonObject, parseObject } from '../wire/json-value.js';
import { isGiven, UntranslatableError } from './untranslatable.error.js';
import { signatureIn } from './vertex/thought-signature.js';

/*
 * A provider signs what its model thought, and wants it back with the next turn: Google in `extra_content` of messages and tool calls,
 * Anthropic in `thinking_blocks`. A conversation that goes on elsewhere still carries them, and a signature says nothing to anybody but
 * who signed: it is left out there. See docs/adr/0012.
 */

/** A block of what Claude thought. */
export function isThinkingBlock(
  value: unknown,
): value is Readonly<Record<string, unknown>> & { readonly type: string } {
  return isObject(value) && (value['type'] === 'thinking' || value['type'] === 'redacted_thinking');
}

/** Where Google's signature is foreign. @throws UntranslatableError for anything else in its place: it would be lost */
export function passOverGoogleSignature(extra: unknown, path: string): void {
  signatureIn(extra, path);
}

/** Where Anthropic's signatures are foreign. @throws UntranslatableError for anything else in their place */
export function passOverThinkingBlocks(blocks: unknown, path: string): void {
  if (!isGiven(blocks) || (Array.isArray(blocks) && blocks.every(isThinkingBlock))) return;
  throw new UntranslatableError(path, 'must be the blocks of an earlier answer');
}

/** In which member of a message its model's thoughts come: DeepSeek's, which most have taken over; vLLM's and OpenRouter's. */
export const REASONING = ['reasoning_content', 'reasoning', 'reasoning_details'] as const;

/**
 * Where thoughts without a signature of the reader's are foreign. What another model thought is no part of what it said: DeepSeek itself
 * reads it in the turn only that it belongs to (https://api-docs.deepseek.com/guides/thinking_mode), and a thought without a signature
 * can not be told to Claude at all. It is left out, as a foreign signature is: else no conversation could go on elsewhere.
 *
 * @throws UntranslatableError for anything else in their place
 */
export function passOverReasoning(message: JsonObject, path: string): void {
  const other = REASONING.find((name) => isGiven(message[name]) && !isReasoning(name, message[name]));
  if (other !== undefined)
    throw new UntranslatableError(`${path}.${other}`, 'must be the thoughts of an earlier answer');
}

function isReasoning(name: string, value: unknown): boolean {
  return name === 'reasoning_details' ? Array.isArray(value) && value.every(isObject) : typeof value === 'string';
}

/**
 * What becomes of `messages` that go in OpenAI's format to a model. Its name tells whose it is: a Gemini or a Claude behind a compatible
 * endpoint gets its own signatures back.
 *
 * @param bodyText - of the request: nothing is edited where none of the members occurs in it
 */
export function foreignSignatureEdits(bodyText: string, model: string): Readonly<Record<string, Edit>> {
  const ofMessage: Record<string, Edit> = {};
  if (bodyText.includes('"thinking_blocks"') && !/claude/i.test(model))
    ofMessage['thinking_blocks'] = keptUnless(isBlocks);
  if (bodyText.includes('"extra_content"') && !/gemini/i.test(model)) {
    ofMessage['extra_content'] = keptUnless(isGoogleSignature);
    ofMessage['tool_calls'] = inObjects({ extra_content: keptUnless(isGoogleSignature) });
  }
  return Object.keys(ofMessage).length === 0 ? {} : { messages: inObjects(ofMessage) };
}

/** Edits each object of a list; whatever else there is, the provider is the judge of it. */
function inObjects(edits: Readonly<Record<string, Edit>>): Edit {
  return (list) =>
    list?.startsWith('[') === true
      ? editItems(list, (item) => (item.startsWith('{') ? editObject(item, edits) : item))
      : list;
}

function keptUnless(isForeign: (text: string) => boolean): Edit {
  return (text) => (text !== undefined && isForeign(text) ? undefined : text);
}

function isBlocks(text: string): boolean {
  const blocks: unknown = JSON.parse(text);
  return Array.isArray(blocks) && blocks.every(isThinkingBlock);
}

function isGoogleSignature(text: string): boolean {
  try {
    return signatureIn(parseObject(text), '') !== undefined;
  } catch (error) {
    if (error instanceof UntranslatableError) return false;
    throw error;
  }
}
