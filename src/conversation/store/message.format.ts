import type { MessageStatus } from '../window/message.card.js';
import { formatCard, keyOf, ROLE_MARKS, STATUS_MARKS } from './card.format.js';
import type { Message, NewMessage } from './message.js';
import type { Turn, TurnEnd, TurnStart } from './turn.js';
import { messageIdOf, turnIdOf } from './turn.id.js';

/** A message as the scripts take it; they complete the head, and put the status into it and into the card. */
export interface WrittenMessage {
  /** Role, p for a status to come, 1 if the content is JSON, else 0. */
  readonly marks: string;
  readonly content: string;
  readonly extras: string;
  readonly card: string;
}

/** A message as the scripts tell it. */
export interface ToldMessage {
  readonly seq: number;
  /** Role, status, 1 if the content is JSON, else 0|token|index in its turn|created at, ms|from which seq its turn supersedes. */
  readonly head: string;
  readonly content: string;
  readonly extras: string;
  readonly isSuperseded: boolean;
}

export interface ToldTurn {
  readonly isCancelled: boolean;
  readonly messages: readonly ToldMessage[];
}

/** What is only shown. Short names: they stand in every message. */
interface Extras {
  readonly model?: string;
  readonly usage?: string;
  readonly finishReason?: string;
  readonly toolCalls?: string;
  readonly toolCallId?: string;
  /** Of the turn, in its first message. */
  readonly asked?: string;
  readonly request?: string;
  /** Of the turn, in its last message. */
  readonly window?: string;
  readonly error?: string;
}

const EXTRA_NAMES: Readonly<Record<keyof Extras, string>> = {
  model: 'm',
  usage: 'u',
  finishReason: 'f',
  toolCalls: 'c',
  toolCallId: 'i',
  asked: 'a',
  request: 'r',
  window: 'w',
  error: 'e',
};

const HEAD = /^([uat])([cifp])([01])\|([\w-]+)\|(\d+)\|(\d+)(?:\|(\d+))?$/;
const PENDING = 'p';

interface Head {
  readonly role: Message['role'];
  readonly status: MessageStatus | 'pending';
  readonly isJson: boolean;
  readonly token: string;
  readonly index: number;
  readonly createdAt: number;
  readonly supersedesFrom: number | undefined;
}

/** The turn's model and request go with its first message. */
export function writeStart({ messages, model, request }: TurnStart): readonly WrittenMessage[] {
  return messages.map((message, at) => write(message, at === 0 ? { asked: model, request } : {}));
}

/** What else is to be kept of the turn goes with its last message. */
export function writeEnd({ messages, window, error }: TurnEnd): readonly WrittenMessage[] {
  const turn = { ...(window !== undefined && { window }), ...(error !== undefined && { error }) };
  return messages.map((message, at) => write(message, at === messages.length - 1 ? turn : {}));
}

/** @throws TypeError for what no script tells */
export function readMessage({ seq, head: text, content, extras: json, isSuperseded }: ToldMessage): Message {
  const { role, status, isJson, token, index, createdAt } = readHead(text);
  const extras = readExtras(json);
  return {
    id: messageIdOf(token, seq),
    seq,
    role,
    content,
    isJson,
    status,
    isSuperseded,
    turnId: turnIdOf({ token, firstSeq: seq - index }),
    createdAt,
    model: extras.model,
    usage: extras.usage,
    finishReason: extras.finishReason,
    toolCalls: extras.toolCalls,
    toolCallId: extras.toolCallId,
  };
}

/** @throws TypeError for what no script tells */
export function readTurn({ isCancelled, messages }: ToldTurn): Turn {
  const [first, ...rest] = messages;
  const last = messages.at(-1);
  if (first === undefined || last === undefined) throw new TypeError('a turn has at least one message');
  const { status, createdAt } = readHead(last.head);
  const { supersedesFrom, createdAt: startedAt } = readHead(first.head);
  const [asked, told] = [readExtras(first.extras), readExtras(last.extras)];
  const shown = readMessage(first);
  return {
    id: shown.turnId,
    status: status === 'pending' ? 'running' : status,
    model: asked.asked ?? '',
    request: asked.request ?? '',
    startedAt,
    endedAt: status === 'pending' ? undefined : createdAt,
    isCancelled,
    supersedesFrom,
    messages: [shown, ...rest.map(readMessage)],
    window: told.window,
    error: told.error,
  };
}

function write(message: NewMessage, turn: Extras): WrittenMessage {
  const { model, usage, finishReason, toolCalls, toolCallId } = message;
  const extras = { model, usage, finishReason, toolCalls, toolCallId, ...turn };
  return {
    marks: `${ROLE_MARKS[message.role]}${PENDING}${message.isJson ? '1' : '0'}`,
    content: message.content,
    extras: writeExtras(extras),
    card: formatCard(message),
  };
}

function writeExtras(extras: Readonly<Record<string, string | undefined>>): string {
  const known = Object.entries(EXTRA_NAMES).flatMap(([name, short]) => {
    const value = extras[name];
    return value === undefined ? [] : [[short, value] as const];
  });
  return known.length === 0 ? '' : JSON.stringify(Object.fromEntries(known));
}

function readExtras(json: string): Extras {
  if (json === '') return {};
  const fields: unknown = JSON.parse(json);
  if (typeof fields !== 'object' || fields === null) throw new TypeError(`${json} says nothing of a message`);
  const values = new Map<string, unknown>(Object.entries(fields));
  const known = Object.entries(EXTRA_NAMES).flatMap(([name, short]) => {
    const value = values.get(short);
    return typeof value === 'string' ? [[name, value] as const] : [];
  });
  return Object.fromEntries(known);
}

function readHead(text: string): Head {
  const [, role, status, json, token, index, createdAt, from] = HEAD.exec(text) ?? [];
  if (token === undefined) throw new TypeError(`${JSON.stringify(text)} is no head of a message`);
  return {
    role: keyOf(ROLE_MARKS, role),
    status: status === PENDING ? 'pending' : keyOf(STATUS_MARKS, status),
    isJson: json === '1',
    token,
    index: Number(index),
    createdAt: Number(createdAt),
    supersedesFrom: from === undefined ? undefined : Number(from),
  };
}
