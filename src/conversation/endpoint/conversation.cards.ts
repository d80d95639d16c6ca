import { parseObject } from '../../ai/index.js';
import type { Conversation, Message, Turn } from '../store/index.js';
import { contentValue } from '../turn/chat.messages.js';
import { errorOf } from '../turn/turn.errors.js';
import { errorBody } from '../../http/index.js';
import type { ConversationCard } from './conversation.dto.js';
import type { MessageObject } from './message.dto.js';
import type { TurnCard, WindowCard } from './turn.dto.js';

export function conversationCard(conversation: Conversation): ConversationCard {
  const { id, title, model, system, metadata, createdAt, updatedAt, seq } = conversation;
  return {
    id,
    object: 'conversation',
    title: title ?? null,
    model: model ?? null,
    system: system ?? null,
    metadata,
    created_at: seconds(createdAt),
    updated_at: seconds(updatedAt),
    seq,
  };
}

export function messageCard(message: Message): MessageObject {
  const { id, seq, role, toolCalls, toolCallId, status, isSuperseded, turnId, model, finishReason } = message;
  return {
    id,
    object: 'conversation.message',
    seq,
    role,
    content: contentValue(message, toolCalls !== undefined),
    ...(toolCalls !== undefined && { tool_calls: JSON.parse(toolCalls) as unknown }),
    ...(toolCallId !== undefined && { tool_call_id: toolCallId }),
    status,
    superseded: isSuperseded,
    turn_id: turnId,
    model: model ?? null,
    finish_reason: finishReason ?? null,
    usage: objectOf(message.usage),
    created_at: seconds(message.createdAt),
  };
}

export function turnCard(conversationId: string, turn: Turn): TurnCard {
  const { id, status, model, messages, window, startedAt, endedAt } = turn;
  const cards = messages.map(messageCard);
  const assistant = cards.findLast(({ role }) => role === 'assistant');
  const results = cards.filter(({ role }) => role === 'tool');
  const error = errorOf(turn);
  return {
    id,
    object: 'turn',
    conversation_id: conversationId,
    status,
    model,
    user: cards.find(({ role }) => role === 'user') ?? null,
    assistant: assistant ?? null,
    ...(results.length > 0 && { tool_results: results }),
    usage: assistant?.usage ?? null,
    window: windowOf(window),
    error: error === undefined ? null : errorBody(error).error,
    created_at: seconds(startedAt),
    ended_at: endedAt === undefined ? null : seconds(endedAt),
  };
}

function windowOf(json: string | undefined): WindowCard | null {
  if (json === undefined) return null;
  const { firstSeq, lastSeq, messages, tokens, budget, droppedMessages, counting } = parseObject(json) ?? {};
  return {
    firstSeq: placeOf(firstSeq),
    lastSeq: placeOf(lastSeq),
    messages: Number(messages),
    tokens: Number(tokens),
    budget: Number(budget),
    droppedMessages: Number(droppedMessages),
    counting: counting === 'exact' ? 'exact' : 'estimate',
  };
}

function placeOf(seq: unknown): number | null {
  return typeof seq === 'number' ? seq : null;
}

function objectOf(json: string | undefined): Readonly<Record<string, unknown>> | null {
  return json === undefined ? null : (parseObject(json) ?? null);
}

function seconds(ms: number): number {
  return Math.floor(ms / 1_000);
}
