import { isObject, type JsonObject } from '../../wire/json-value.js';
import { type Block, blocksOf, textBlocksOf } from './content.translator.js';
import { isThinkingBlock, passOverGoogleSignature, passOverReasoning, REASONING } from '../foreign-signatures.js';
import { refuseLateInstructions, refuseSilence, withoutEmptyLists } from '../openai.request.js';
import { callsOf, type WrittenCall } from '../openai.tools.js';
import { isGiven, NO_COUNTERPART, UntranslatableError, refuseOthers, textOf } from '../untranslatable.error.js';

export interface Turn {
  readonly role: 'user' | 'assistant';
  readonly content: readonly Block[];
}

export interface Conversation {
  readonly system: readonly Block[];
  readonly messages: readonly Turn[];
}

/**
 * OpenAI's messages as the Messages API wants them: what a system or developer message says stands at the top, and is refused where it
 * does not stand there already; results of tools belong to the user; neighbours of one role are one turn, so that the results of
 * parallel calls come together. Instructions alone are a prompt: there must be a turn. A turn without content is refused there: an
 * answer without a word, of a model that only thought, is none, and a user who says nothing is refused by name.
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
    if (role === 'system') {
      if (last !== undefined) refuseLateInstructions(path);
      system.push(...content);
    } else if (last?.role === role) last.content.push(...content);
    else if (content.length > 0) turns.push({ role, content: [...content] });
  });
  if (turns.length > 0) return { system, messages: turns };
  if (system.length === 0) refuseSilence('messages');
  return { system: [], messages: [{ role: 'user', content: system }] };
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
      return { role: 'user', content: said(blocksOf(message['content'], `${path}.content`), `${path}.content`) };
    case 'assistant':
      return { role: 'assistant', content: assistantBlocks(message, path) };
    case 'tool':
      return { role: 'user', content: [toolResult(message, path)] };
    default:
      throw new UntranslatableError(`${path}.role`, `${JSON.stringify(message['role'])} ${NO_COUNTERPART}`);
  }
}

function said(blocks: readonly Block[], path: string): readonly Block[] {
  return blocks.length === 0 ? refuseSilence(path) : blocks;
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
  'extra_content',
  ...REASONING,
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
    ...callsOf(message['tool_calls'], `${path}.tool_calls`).map(toolUse),
  ];
}

/** As an answer carried them (see thinking_blocks there): signed, which the text alone is not. */
function thinkingBlocks(message: JsonObject, path: string): readonly Block[] {
  const blocks = message['thinking_blocks'];
  if (isGiven(blocks)) {
    if (Array.isArray(blocks) && blocks.every(isThinkingBlock)) return blocks;
    throw new UntranslatableError(`${path}.thinking_blocks`, 'must be the blocks of an earlier answer');
  }
  passOverReasoning(message, path);
  return [];
}

function toolUse({ id, name, input, extra, path }: WrittenCall): Block {
  passOverGoogleSignature(extra, `${path}.extra_content`);
  return { type: 'tool_use', id: toolUseId(textOf(id, `${path}.id`)), name, input };
}

/** Other providers' ids, in a conversation that began there, may have characters that are refused here (`functions.f:0`). */
function toolUseId(id: string): string {
  return id.replaceAll(/[^a-zA-Z0-9_-]/gu, (char) => `_${(char.codePointAt(0) ?? 0).toString(16)}_`);
}
