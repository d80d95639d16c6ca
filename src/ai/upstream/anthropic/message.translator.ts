import { isObject, type JsonObject, parseObject } from '../../wire/json-value.js';
import { type Block, blocksOf, textBlocksOf } from './content.translator.js';
import { isThinkingBlock, passOverGoogleSignature } from '../foreign-signatures.js';
import { isGiven, NO_COUNTERPART, UntranslatableError, refuseOthers, textOf } from '../untranslatable.error.js';
import { RawJson } from './raw-json.js';

export interface Turn {
  readonly role: 'user' | 'assistant';
  readonly content: readonly Block[];
}

export interface Conversation {
  readonly system: readonly Block[];
  readonly messages: readonly Turn[];
}

/**
 * OpenAI's messages as the Messages API wants them: what a system or developer message says stands at the top, wherever it stood;
 * results of tools belong to the user; neighbours of one role are one turn, so that the results of parallel calls come together.
 *
 * @throws UntranslatableError
 */
export function conversationOf(messages: unknown): Conversation {
  if (!Array.isArray(messages)) throw new UntranslatableError('messages', 'must be a list of messages');
  const system: Block[] = [];
  const turns: { role: Turn['role']; content: Block[] }[] = [];
  messages.forEach((message: unknown, index) => {
    const path = `messages[${String(index)}]`;
    if (!isObject(message)) throw new UntranslatableError(path, 'must be a message with a role');
    const { role, content } = turnOf(message, path);
    const last = turns.at(-1);
    if (role === 'system') system.push(...content);
    else if (last?.role === role) last.content.push(...content);
    else turns.push({ role, content: [...content] });
  });
  return { system, messages: turns };
}

function turnOf(
  message: JsonObject,
  path: string,
): { readonly role: Turn['role'] | 'system'; readonly content: readonly Block[] } {
  switch (message['role']) {
    case 'system':
    case 'developer':
      refuseOthers(message, `${path}.`, ['role', 'content']);
      return { role: 'system', content: textBlocksOf(message['content'], `${path}.content`) };
    case 'user':
      refuseOthers(message, `${path}.`, ['role', 'content']);
      return { role: 'user', content: blocksOf(message['content'], `${path}.content`) };
    case 'assistant':
      return { role: 'assistant', content: assistantBlocks(message, path) };
    case 'tool':
      return { role: 'user', content: [toolResult(message, path)] };
    default:
      throw new UntranslatableError(`${path}.role`, `${JSON.stringify(message['role'])} ${NO_COUNTERPART}`);
  }
}

function toolResult(message: JsonObject, path: string): Block {
  refuseOthers(message, `${path}.`, ['role', 'content', 'tool_call_id']);
  const content = blocksOf(message['content'], `${path}.content`);
  return {
    type: 'tool_result',
    tool_use_id: toolUseId(textOf(message['tool_call_id'], `${path}.tool_call_id`)),
    ...(content.length > 0 && { content }),
  };
}

const ASSISTANT_MEMBERS = [
  'role',
  'content',
  'refusal',
  'tool_calls',
  'thinking_blocks',
  'reasoning_content',
  'extra_content',
];

/** Thinking stands first: a turn that begins with anything else is refused while thinking is on. */
function assistantBlocks(message: JsonObject, path: string): readonly Block[] {
  refuseOthers(withoutEmptyLists(message), `${path}.`, ASSISTANT_MEMBERS);
  passOverGoogleSignature(message['extra_content'], `${path}.extra_content`);
  const refusal = isGiven(message['refusal']) ? textOf(message['refusal'], `${path}.refusal`) : '';
  return [
    ...thinkingBlocks(message, path),
    ...blocksOf(message['content'], `${path}.content`),
    ...(refusal === '' ? [] : [{ type: 'text', text: refusal }]),
    ...toolUses(message['tool_calls'], `${path}.tool_calls`),
  ];
}

/** Clients send a message back as they got it, `annotations: []` included. */
function withoutEmptyLists(message: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(message).filter(([, value]) => !Array.isArray(value) || value.length > 0));
}

/** As an answer carried them (see thinking_blocks there): signed, which the text alone is not. */
function thinkingBlocks(message: JsonObject, path: string): readonly Block[] {
  const blocks = message['thinking_blocks'];
  if (isGiven(blocks)) {
    if (Array.isArray(blocks) && blocks.every(isThinkingBlock)) return blocks;
    throw new UntranslatableError(`${path}.thinking_blocks`, 'must be the blocks of an earlier answer');
  }
  if (isGiven(message['reasoning_content']) && message['reasoning_content'] !== '') {
    throw new UntranslatableError(`${path}.reasoning_content`, 'can not be sent without its thinking_blocks');
  }
  return [];
}

function toolUses(calls: unknown, path: string): readonly Block[] {
  if (!isGiven(calls)) return [];
  if (!Array.isArray(calls)) throw new UntranslatableError(path, 'must be a list of calls');
  return calls.map((call: unknown, index) => toolUse(call, `${path}[${String(index)}]`));
}

function toolUse(call: unknown, path: string): Block {
  if (!isObject(call) || call['type'] !== 'function' || !isObject(call['function'])) {
    throw new UntranslatableError(path, 'must be the call of a function');
  }
  // `index` is what a client that collects a stream leaves in it.
  refuseOthers(call, `${path}.`, ['id', 'type', 'function', 'index', 'extra_content']);
  passOverGoogleSignature(call['extra_content'], `${path}.extra_content`);
  const called = call['function'];
  refuseOthers(called, `${path}.function.`, ['name', 'arguments']);
  return {
    type: 'tool_use',
    id: toolUseId(textOf(call['id'], `${path}.id`)),
    name: textOf(called['name'], `${path}.function.name`),
    input: toolInput(textOf(called['arguments'], `${path}.function.arguments`), `${path}.function.arguments`),
  };
}

function toolInput(text: string, path: string): RawJson {
  if (text.trim() === '') return new RawJson('{}');
  if (parseObject(text) === undefined) throw new UntranslatableError(path, 'must be the text of a JSON object');
  return new RawJson(text);
}

/** Other providers' ids, in a conversation that began there, may have characters that are refused here (`functions.f:0`). */
function toolUseId(id: string): string {
  return id.replaceAll(/[^a-zA-Z0-9_-]/gu, (char) => `_${(char.codePointAt(0) ?? 0).toString(16)}_`);
}
