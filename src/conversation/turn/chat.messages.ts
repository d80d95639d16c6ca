import type { JsonObject } from '../../ai/index.js';
import type { Message, NewMessage } from '../store/index.js';

/** What a provider is told of a message. */
export type ToldMessage = Pick<NewMessage, 'role' | 'content' | 'isJson' | 'toolCalls' | 'toolCallId'>;

/** A message of the log as OpenAI's wire format has it. */
export function chatMessage(message: ToldMessage, isWithoutCalls = false): JsonObject {
  const { role, content, isJson, toolCalls, toolCallId } = message;
  const calls = isWithoutCalls ? undefined : toolCalls;
  return {
    role,
    content: contentValue({ content, isJson }, calls !== undefined),
    ...(calls !== undefined && { tool_calls: JSON.parse(calls) as unknown }),
    ...(toolCallId !== undefined && { tool_call_id: toolCallId }),
  };
}

/** The content as it was given: text or parts; null where an assistant has only called tools. */
export function contentValue({ content, isJson }: Pick<NewMessage, 'content' | 'isJson'>, hasCalls: boolean): unknown {
  if (isJson) return JSON.parse(content) as unknown;
  return content === '' && hasCalls ? null : content;
}

/** The ids of an assistant's tool calls. */
export function callIds(calls: readonly JsonObject[]): readonly string[] {
  return calls.flatMap(({ id }) => (typeof id === 'string' ? [id] : []));
}

/** A message of the log, to be said once more. */
export function asNew(message: Message): NewMessage {
  const { role, content, isJson, toolCalls, toolCallId, model, usage, finishReason } = message;
  return { role, content, isJson, toolCalls, calls: [], toolCallId, model, usage, finishReason, tokens: [] };
}
