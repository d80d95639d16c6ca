import type { Encoding } from '../../tokens/index.js';
import type { MessageStatus } from '../window/message.card.js';
import { keyOf, parseCard, parseCounts, STATUS_MARKS } from './card.format.js';
import type { Conversation, ListPlace, WindowHead } from './conversation.js';
import type { ChangeRefusal, Created } from './conversation.store.js';
import type { CardList, MessageList } from './message.js';
import { readMessage, readTurn, type ToldMessage } from './message.format.js';
import { ReplyReader } from './reply.reader.js';
import type { EndAnswer, EventPage, KeyedTurn, StartAnswer, TellAnswer, Turn, TurnNews } from './turn.js';
import { parseTurnId, type TurnIdParts, turnIdOf } from './turn.id.js';

const REFUSALS = new Map<number, Refusal>([
  [0, 'missing'],
  [-1, 'fenced'],
  [-2, 'changed'],
  [-3, 'busy'],
]);
const TELL_ANSWERS = new Map<number, TellAnswer>([
  [1, 'added'],
  [2, 'cancelled'],
  [0, 'missing'],
  [-1, 'fenced'],
  [-2, 'over'],
]);
const CANCEL_ANSWERS = new Map<number, 'asked' | 'over' | 'missing'>([
  [1, 'asked'],
  [0, 'over'],
  [-1, 'missing'],
]);

const HEAD = /^(\d+)\|(.*)$/s;
const NEWS = /^(events|ended|cancelled)\|([\w-]+)\|(\d+)$/;
const RUNNING = 'r';

export type Refusal = 'missing' | 'fenced' | 'changed' | 'busy';

export function readCreated(id: string, reply: unknown): Created {
  const values = new ReplyReader('create', reply);
  const kind = values.integer();
  if (kind !== 0 && kind !== 1) throw values.fault(kind);
  return { isNew: kind === 1, conversation: readConversation(id, values) };
}

export function readFound(script: string, id: string, reply: unknown): Conversation | Refusal {
  const values = new ReplyReader(script, reply);
  const kind = values.integer();
  return kind === 1 ? readConversation(id, values) : refusalOf(values, kind);
}

export function readChanged(id: string, reply: unknown): Conversation | ChangeRefusal {
  const found = readFound('change', id, reply);
  return typeof found === 'string' ? changeRefusal('change', found) : found;
}

/** @returns the turn that ran; its token is '' where none did */
export function readRemoved(reply: unknown): TurnIdParts | ChangeRefusal {
  const values = new ReplyReader('remove', reply);
  const kind = values.integer();
  return kind === 1
    ? { token: values.text(), firstSeq: values.integer() }
    : changeRefusal('remove', refusalOf(values, kind));
}

export function readAdded(reply: unknown): TellAnswer {
  return readOne('tell', TELL_ANSWERS, reply);
}

export function readCancelled(reply: unknown): 'asked' | 'over' | 'missing' {
  return readOne('cancel', CANCEL_ANSWERS, reply);
}

export function readStarted(id: string, reply: unknown): StartAnswer {
  const values = new ReplyReader('start', reply);
  const kind = values.integer();
  switch (kind) {
    case 1: {
      const conversation = readConversation(id, values);
      return { kind: 'started', conversation, turn: readToldTurn(values) };
    }
    case 2:
    case 3:
      return { kind: 'known', isSame: kind === 2, turn: readToldTurn(values) };
    case 4:
      return { kind: 'left', turn: readToldTurn(values) };
    default: {
      const refusal = refusalOf(values, kind);
      if (refusal === 'busy') throw values.fault(kind);
      return { kind: refusal };
    }
  }
}

export function readEnded(id: string, reply: unknown): EndAnswer {
  const values = new ReplyReader('end', reply);
  const kind = values.integer();
  if (kind === 1) {
    const conversation = readConversation(id, values);
    return { kind: 'ended', conversation, turn: readToldTurn(values) };
  }
  const refusal = refusalOf(values, kind);
  if (refusal !== 'missing' && refusal !== 'fenced') throw values.fault(kind);
  return { kind: refusal };
}

export function readFoundTurn(reply: unknown): Turn | undefined {
  const values = new ReplyReader('turn', reply);
  return values.isEmpty() ? undefined : readToldTurn(values);
}

export function readKeyed(reply: unknown): KeyedTurn | undefined {
  const values = new ReplyReader('keyed', reply);
  if (values.isEmpty()) return undefined;
  const isSame = values.integer() === 1;
  return { isSame, turn: readToldTurn(values) };
}

export function readEvents(reply: unknown): EventPage | undefined {
  const values = new ReplyReader('events', reply);
  if (values.isEmpty()) return undefined;
  const mark = values.text();
  const status: EventPage['status'] = mark === RUNNING ? 'running' : keyOf<MessageStatus>(STATUS_MARKS, mark);
  const isWhole = values.integer() === 1;
  const events: EventPage['events'][number][] = [];
  while (!values.isEmpty()) events.push({ id: values.integer(), name: values.text(), data: values.text() });
  return { status, isWhole, events };
}

export function readPage(reply: unknown): MessageList | undefined {
  const values = new ReplyReader('page', reply);
  if (values.isEmpty()) return undefined;
  const hasMore = values.integer() === 1;
  const messages = Array.from({ length: values.integer() }, () => readMessage(readTold(values)));
  const pending: MessageList['pending'][number][] = [];
  while (!values.isEmpty()) pending.push(readMessage(readTold(values)));
  return { messages, hasMore, pending };
}

export function readCards(id: string, encoding: Encoding, reply: unknown): CardList | undefined {
  const values = new ReplyReader('cards', reply);
  if (values.isEmpty()) return undefined;
  const conversation = readConversation(id, values);
  const texts: string[] = [];
  const first = values.integer();
  while (!values.isEmpty()) texts.push(values.text());
  return { conversation, ...cardsOf(texts, first, encoding) };
}

/** @param first - seq of the first of them */
export function cardsOf(
  texts: readonly string[],
  first: number,
  encoding: Encoding,
): Pick<CardList, 'cards' | 'superseded'> {
  const stored = texts.map((text, at) => parseCard(text, first + at, encoding));
  return {
    cards: stored.flatMap(({ card, isSuperseded }) => (isSuperseded ? [] : [card])),
    superseded: stored.flatMap(({ card, isSuperseded }) => (isSuperseded ? [card.seq] : [])),
  };
}

export function readList(reply: unknown): readonly ListPlace[] {
  const values = new ReplyReader('list', reply);
  const places: ListPlace[] = [];
  while (!values.isEmpty()) places.push({ id: values.text(), updatedAt: values.integer() });
  return places;
}

/** Undefined for anything else that somebody published. */
export function readNews(message: string): TurnNews | undefined {
  const [, kind, token, first] = NEWS.exec(message) ?? [];
  if (token === undefined || (kind !== 'events' && kind !== 'ended' && kind !== 'cancelled')) return undefined;
  const turnId = turnIdOf({ token, firstSeq: Number(first) });
  return parseTurnId(turnId) === undefined ? undefined : { kind, turnId };
}

function readConversation(id: string, values: ReplyReader): Conversation {
  const [title, model, system] = [values.optionalText(), values.optionalText(), values.optionalText()];
  const [systemTokens, metadata] = [parseCounts(values.text()), readMetadata(values)];
  const [keepMs, createdAt, updatedAt] = [values.integer(), values.integer(), values.integer()];
  const ends = values.integer();
  const [seq, base, version] = [values.integer(), values.integer(), values.integer()];
  const head = readHead(values.optionalText());
  const [token, first] = [values.optionalText(), values.optionalText()];
  const activeTurn = token === undefined ? undefined : turnIdOf({ token, firstSeq: Number(first) });
  const expiresAt = ends === 0 ? undefined : ends;
  return {
    id,
    title,
    model,
    system,
    systemTokens,
    metadata,
    keepMs,
    createdAt,
    updatedAt,
    expiresAt,
    seq,
    firstSeq: base + 1,
    version,
    activeTurn,
    head,
  };
}

function readMetadata(values: ReplyReader): Readonly<Record<string, string>> {
  const text = values.text();
  const fields: unknown = JSON.parse(text);
  if (typeof fields !== 'object' || fields === null) throw values.fault(text);
  const entries: [string, unknown][] = Object.entries(fields);
  const known = entries.flatMap(([name, value]) => (typeof value === 'string' ? [[name, value] as const] : []));
  if (known.length !== entries.length) throw values.fault(text);
  return Object.fromEntries(known);
}

function readHead(text: string | undefined): WindowHead | undefined {
  const [, seq, model] = text === undefined ? [] : (HEAD.exec(text) ?? []);
  return model === undefined ? undefined : { seq: Number(seq), model };
}

function readToldTurn(values: ReplyReader): Turn {
  const isCancelled = values.integer() === 1;
  const messages = Array.from({ length: values.integer() }, () => readTold(values));
  return readTurn({ isCancelled, messages });
}

function readTold(values: ReplyReader): ToldMessage {
  const seq = values.integer();
  const [head, content, extras] = [values.text(), values.text(), values.text()];
  return { seq, head, content, extras, isSuperseded: values.integer() === 1 };
}

/** A script that answers one number. */
function readOne<Answer>(script: string, answers: ReadonlyMap<number, Answer>, reply: unknown): Answer {
  const values = new ReplyReader(script, [reply]);
  const number = values.integer();
  const answer = answers.get(number);
  if (answer === undefined) throw values.fault(number);
  return answer;
}

function changeRefusal(script: string, refusal: Refusal): ChangeRefusal {
  if (refusal === 'missing' || refusal === 'changed') return refusal;
  throw new ReplyReader(script, []).fault(refusal);
}

function refusalOf(values: ReplyReader, kind: number): Refusal {
  const refusal = REFUSALS.get(kind);
  if (refusal === undefined) throw values.fault(kind);
  return refusal;
}
