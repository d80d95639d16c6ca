import { isObject, type JsonObject, parseObject } from '../../wire/json-value.js';
import { RawJson } from '../anthropic/raw-json.js';
import { passOverThinkingBlocks } from '../foreign-signatures.js';
import { isGiven, NO_COUNTERPART, refuseOthers, textOf, UntranslatableError } from '../untranslatable.error.js';
import { textPartsOf } from './part.translator.js';
import { signatureIn } from './thought-signature.js';
import { takesLevels } from './thinking.js';

/**
 * Says that a call was not made by the model that reads it now: for calls without a signature, which another model made or a client
 * has lost (https://ai.google.dev/gemini-api/docs/thought-signatures).
 */
const NO_SIGNATURE = 'skip_thought_signature_validator';

const MEMBERS = ['role', 'content', 'refusal', 'reasoning_content', 'tool_calls', 'extra_content', 'thinking_blocks'];

/** What the model said, thought and called. @throws UntranslatableError */
export function assistantParts(message: JsonObject, path: string, model: string): readonly JsonObject[] {
  refuseOthers(withoutEmptyLists(message), `${path}.`, MEMBERS);
  passOverThinkingBlocks(message['thinking_blocks'], `${path}.thinking_blocks`);
  const parts = [
    ...thoughts(message, path),
    ...spoken(message, path),
    ...callParts(message['tool_calls'], { path: `${path}.tool_calls`, isChecked: takesLevels(model) }),
  ];
  return parts.length > 0 ? parts : [{ text: '' }];
}

/** Clients send a message back as they got it, `annotations: []` included. */
function withoutEmptyLists(message: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(message).filter(([, value]) => !Array.isArray(value) || value.length > 0));
}

function thoughts({ reasoning_content: reasoning }: JsonObject, path: string): readonly JsonObject[] {
  const text = isGiven(reasoning) ? textOf(reasoning, `${path}.reasoning_content`) : '';
  return text === '' ? [] : [{ text, thought: true }];
}

/** The signature of a text came at its end, and goes back there. */
function spoken(message: JsonObject, path: string): readonly JsonObject[] {
  const refusal = isGiven(message['refusal']) ? textOf(message['refusal'], `${path}.refusal`) : '';
  const texts = textPartsOf(message['content'], `${path}.content`).filter(({ text }) => text !== '');
  const parts = refusal === '' ? texts : [...texts, { text: refusal }];
  const thoughtSignature = signatureIn(message['extra_content'], `${path}.extra_content`);
  if (thoughtSignature === undefined) return parts;
  return [...parts.slice(0, -1), { ...(parts.at(-1) ?? { text: '' }), thoughtSignature }];
}

interface CallPlace {
  readonly path: string;
  /** The model refuses calls without a signature. */
  readonly isChecked: boolean;
}

/** Of calls that were made together only the first is signed. */
function callParts(calls: unknown, { path, isChecked }: CallPlace): readonly JsonObject[] {
  if (!isGiven(calls)) return [];
  if (!Array.isArray(calls)) throw new UntranslatableError(path, 'must be a list');
  return calls.map((call: unknown, index) => {
    const part = callPart(call, `${path}[${String(index)}]`);
    const isUnsigned = index === 0 && part['thoughtSignature'] === undefined;
    return isUnsigned && isChecked ? { ...part, thoughtSignature: NO_SIGNATURE } : part;
  });
}

function callPart(call: unknown, path: string): JsonObject {
  const called = isObject(call) ? call['function'] : undefined;
  if (!isObject(call) || call['type'] !== 'function' || !isObject(called))
    throw new UntranslatableError(`${path}.type`, `other than function ${NO_COUNTERPART}`);
  refuseOthers(call, `${path}.`, ['id', 'type', 'function', 'index', 'extra_content']);
  refuseOthers(called, `${path}.function.`, ['name', 'arguments']);
  const name = textOf(called['name'], `${path}.function.name`);
  const args = argsOf(called['arguments'], `${path}.function.arguments`);
  const thoughtSignature = signatureIn(call['extra_content'], `${path}.extra_content`);
  return { functionCall: { name, args }, ...(thoughtSignature !== undefined && { thoughtSignature }) };
}

function argsOf(text: unknown, path: string): RawJson {
  const json = isGiven(text) ? textOf(text, path) : '';
  if (json.trim() === '') return new RawJson('{}');
  if (parseObject(json) === undefined) throw new UntranslatableError(path, 'must be the text of a JSON object there');
  return new RawJson(json);
}
