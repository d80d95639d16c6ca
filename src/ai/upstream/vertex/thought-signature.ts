import { isObject, type JsonObject } from '../../wire/json-value.js';
import { isGiven, refuseOthers, textOf, UntranslatableError } from '../untranslatable.error.js';

/**
 * Gemini signs what it thought, and wants its signature back with what it said or called. It travels where Google's own translation
 * of OpenAI's format has it: in `extra_content.google.thought_signature` of a tool call or of a message
 * (https://ai.google.dev/gemini-api/docs/thought-signatures).
 */
export function signed(thoughtSignature: unknown): { readonly extra_content?: JsonObject } {
  return typeof thoughtSignature === 'string' && thoughtSignature !== ''
    ? { extra_content: { google: { thought_signature: thoughtSignature } } }
    : {};
}

/** The signature in an `extra_content` that came back. @throws UntranslatableError for anything else in it */
export function signatureIn(extra: unknown, path: string): string | undefined {
  if (!isGiven(extra)) return undefined;
  if (!isObject(extra)) throw new UntranslatableError(path, 'must be an object');
  refuseOthers(extra, `${path}.`, ['google']);
  const google = extra['google'];
  if (!isGiven(google)) return undefined;
  if (!isObject(google)) throw new UntranslatableError(`${path}.google`, 'must be an object');
  refuseOthers(google, `${path}.google.`, ['thought_signature']);
  const signature = google['thought_signature'];
  return isGiven(signature) ? textOf(signature, `${path}.google.thought_signature`) : undefined;
}
