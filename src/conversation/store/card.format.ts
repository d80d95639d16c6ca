import type { MessageCard, MessageStatus } from '../window/message.card.js';
import type { Encoding } from '../../tokens/index.js';
import type { CountedTokens } from './conversation.js';
import type { NewMessage } from './message.js';

/** A message's card is a few bytes, of which the scripts know the marks only: role, status, flags|counts|calls|the call it answers. */
export const ROLE_MARKS: Readonly<Record<MessageCard['role'], string>> = { user: 'u', assistant: 'a', tool: 't' };
export const STATUS_MARKS: Readonly<Record<MessageStatus, string>> = { complete: 'c', incomplete: 'i', failed: 'f' };
const ENCODING_MARKS: Readonly<Record<Encoding, string>> = { o200k: 'o', claude: 'c', bytes: 'b' };

const CARD = /^([uat])([cif])(e?)(s?)((?:\|.*)?)$/;
const SUPERSEDED = /^..e?s/;
/** No text is escaped to it. */
const NAMELESS = '%';
const COUNT = /^([ocb])(\d{1,15})(?:\.(\d{1,15}))?$/;

const UNCOUNTED = { tokens: -1, callTokens: 0 };

export interface StoredCard {
  readonly card: MessageCard;
  readonly isSuperseded: boolean;
}

/** Of a message whose status is still to come: the scripts put it in place of the second letter. */
export function formatCard(message: NewMessage): string {
  const marks = `${ROLE_MARKS[message.role]}p${message.content === '' ? 'e' : ''}`;
  const calls = message.calls.map(escapeCall).join(',');
  const answers = message.toolCallId === undefined ? '' : escapeCall(message.toolCallId);
  return [marks, formatCounts(message.tokens), calls, answers].join('|').replace(/(?<!\|)\|+$/, '');
}

/** @param encoding - whose count it tells @throws TypeError for what no script stored */
export function parseCard(text: string, seq: number, encoding: Encoding): StoredCard {
  const [, role, status, empty, superseded, rest] = CARD.exec(text) ?? [];
  if (rest === undefined) throw new TypeError(`${JSON.stringify(text)} is no card of a message`);
  const [, counts = '', calls = '', answers = ''] = rest.split('|');
  const card: MessageCard = {
    seq,
    role: keyOf(ROLE_MARKS, role),
    status: keyOf(STATUS_MARKS, status),
    ...countOf(parseCounts(counts), encoding),
    hasContent: empty === '',
    calls: calls === '' ? [] : calls.split(',').map(readCall),
    ...(answers !== '' && { answers: readCall(answers) }),
  };
  return { card, isSuperseded: superseded === 's' };
}

/** Whether a later turn has answered again. */
export function isSuperseded(card: string): boolean {
  return SUPERSEDED.test(card);
}

/** The card of a message that was answered again. */
export function superseded(card: string): string {
  return isSuperseded(card) ? card : card.replace(/^..e?/, '$&s');
}

/** A head or a card with another status. */
export function withStatus(text: string, status: MessageStatus): string {
  return `${text.slice(0, 1)}${STATUS_MARKS[status]}${text.slice(2)}`;
}

/** A card with a count of an encoding, if it had none. */
export function withCount(card: string, encoding: Encoding, count: Omit<CountedTokens, 'encoding'>): string {
  const [marks = '', counts = '', ...rest] = card.split('|');
  if (parseCounts(counts).some((counted) => counted.encoding === encoding)) return card;
  const added = `${encodingMark(encoding)}${formatCount(count)}`;
  return [marks, counts === '' ? added : `${counts},${added}`, ...rest].join('|');
}

export function formatCounts(counts: readonly CountedTokens[]): string {
  return counts.map((counted) => `${encodingMark(counted.encoding)}${formatCount(counted)}`).join(',');
}

export function encodingMark(encoding: Encoding): string {
  return ENCODING_MARKS[encoding];
}

export function formatCount({ tokens, callTokens }: Omit<CountedTokens, 'encoding'>): string {
  return callTokens === 0 ? `${tokens}` : `${tokens}.${callTokens}`;
}

/** @throws TypeError for what formatCounts() never writes */
export function parseCounts(text: string): readonly CountedTokens[] {
  if (text === '') return [];
  return text.split(',').map((part) => {
    const [, mark, tokens, callTokens = '0'] = COUNT.exec(part) ?? [];
    if (tokens === undefined) throw new TypeError(`${JSON.stringify(part)} is no count of tokens`);
    return { encoding: keyOf(ENCODING_MARKS, mark), tokens: Number(tokens), callTokens: Number(callTokens) };
  });
}

/** @throws TypeError where none has that mark */
export function keyOf<Key extends string>(marks: Readonly<Record<Key, string>>, mark: string | undefined): Key {
  for (const key in marks) if (marks[key] === mark) return key;
  throw new TypeError(`no mark is ${String(mark)}`);
}

function countOf(counts: readonly CountedTokens[], encoding: Encoding): Pick<MessageCard, 'tokens' | 'callTokens'> {
  const { tokens, callTokens } = counts.find((counted) => counted.encoding === encoding) ?? UNCOUNTED;
  return { tokens, callTokens };
}

/** Providers choose the ids of calls: no separator may stand in them. An empty id stays apart from none. */
function escapeCall(id: string): string {
  return id === '' ? NAMELESS : encodeURIComponent(Buffer.from(id).toString());
}

function readCall(text: string): string {
  return text === NAMELESS ? '' : decodeURIComponent(text);
}
