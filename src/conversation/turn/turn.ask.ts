import { createHash } from 'node:crypto';
import { type CallTerms, isObject, type JsonObject } from '../../ai/index.js';
import { ApiError } from '../../http/index.js';
import type { ExpectedVersion, NewMessage, Place, TurnKey } from '../store/index.js';
import type { MessageCard } from '../window/message.card.js';
import { type Content, readAnyContent, readContent } from './content.js';

/** What a turn is begun with. */
export interface TurnInput {
  readonly messages: readonly [NewMessage, ...NewMessage[]];
  /** Undefined: the conversation's, else the first of the caller's tier. */
  readonly model: string | undefined;
  /** What goes to the provider beside the messages. */
  readonly parameters: JsonObject;
  /** An earlier turn that is to be answered again. */
  readonly replaces: { readonly turnId: string; readonly supersedesFrom: number } | undefined;
}

/** Who asks for it, and how. */
export interface TurnAsk {
  readonly place: Place;
  readonly terms: CallTerms;
  readonly key: TurnKey | undefined;
  readonly ifVersion: ExpectedVersion | undefined;
  /** Queue up behind the turn that runs. */
  readonly waits: boolean;
  /** Ends the wait for it to begin, and nothing else. */
  readonly signal: AbortSignal;
  /** `performance.now()` at which the request's time is over: what it waits for the lock is not left for the answer, ms. */
  readonly endsAt: number;
}

/** What is left of the request's time, ms. @throws ApiError timeout: nothing */
export function timeLeft({ endsAt }: TurnAsk): number {
  const leftMs = Math.floor(endsAt - performance.now());
  if (leftMs > 0) return leftMs;
  throw new ApiError('timeout', 'the time this turn had is over before it could begin');
}

/**
 * What is said in a turn.
 *
 * @param param - the member that holds `content`, for errors
 * @throws ApiError invalid_request
 */
export function readMessages(content: unknown, toolResults: unknown, param: string): TurnInput['messages'] {
  const results = isGiven(toolResults) ? readResults(toolResults) : [];
  const said = isGiven(content) ? [newMessage('user', readContent(content, param))] : [];
  const [first, ...rest] = [...results, ...said];
  if (first !== undefined) return [first, ...rest];
  throw new ApiError('invalid_request', `${param} must say what the user says`, { param });
}

/**
 * Results of tools answer all the calls of the last reply: providers refuse a call without its result.
 *
 * @param log - the conversation's
 * @throws ApiError invalid_request
 */
export function checkToolResults(messages: readonly NewMessage[], log: readonly MessageCard[]): void {
  const given = messages.flatMap(({ toolCallId }) => toolCallId ?? []);
  if (given.length === 0) return;
  const last = log.findLast(({ status }) => status !== 'failed');
  const calls = last?.role === 'assistant' ? last.calls : [];
  const stray = given.findIndex((id, at) => !calls.includes(id) || given.indexOf(id) !== at);
  if (stray !== -1) {
    const param = `tool_results[${String(stray)}].tool_call_id`;
    throw new ApiError('invalid_request', `${param} must name a call of the last reply, each once`, { param });
  }
  const missing = calls.filter((id) => !given.includes(id));
  if (missing.length > 0) {
    const message = `tool_results must answer every call of the last reply: ${missing.join(', ')}`;
    throw new ApiError('invalid_request', message, { param: 'tool_results' });
  }
}

/** Tells two bodies apart; the order of members, and how the answer is to be told, say nothing of what is asked. */
export function bodyHash(...parts: readonly unknown[]): string {
  return createHash('sha256')
    .update(JSON.stringify(parts.map(sorted)))
    .digest('base64url');
}

export function newMessage(role: NewMessage['role'], content: Content, toolCallId?: string): NewMessage {
  return {
    role,
    ...content,
    toolCallId,
    toolCalls: undefined,
    calls: [],
    model: undefined,
    usage: undefined,
    finishReason: undefined,
    tokens: [],
  };
}

function readResults(value: unknown): readonly NewMessage[] {
  if (!Array.isArray(value) || value.length === 0) {
    throw new ApiError('invalid_request', 'tool_results must be a list of results', { param: 'tool_results' });
  }
  return value.map((result: unknown, at) => {
    const param = `tool_results[${String(at)}]`;
    const id = isObject(result) ? result['tool_call_id'] : undefined;
    if (!isObject(result) || typeof id !== 'string' || id === '') {
      throw new ApiError('invalid_request', `${param} must be an object with a tool_call_id`, { param });
    }
    return newMessage('tool', readAnyContent(result['content'], `${param}.content`), id);
  });
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isObject(value)) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, item]) => [key, sorted(item)]));
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null;
}
