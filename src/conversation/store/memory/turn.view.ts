import { CONVERSATION_LIMITS as LIMITS } from '../conversation.limits.js';
import { readMessage, readTurn, type ToldMessage } from '../message.format.js';
import type { Message, MessageList, MessagePage } from '../message.js';
import type { TurnIdParts } from '../turn.id.js';
import type { EventPage, EventRequest, StartAnswer, TurnStart } from '../turn.js';
import type { KeptConversation } from './kept.conversation.js';

/** About so much is told at once, bytes. */
const PAGE_BYTES = 1_048_576;

/** What start.lua decides, in its order. */
export function decideStart(conversation: KeptConversation, start: TurnStart, ms: number): StartAnswer {
  const known = knownTurn(conversation, start, ms);
  if (known !== undefined) return known;
  if (start.fence < conversation.fence) return { kind: 'fenced' };
  const { turn } = conversation;
  if (turn?.token === start.token && turn.fence === start.fence) {
    conversation.renew(ms, LIMITS.runMs);
    return { kind: 'started', conversation: conversation.told(), turn: readTurn(turn.told()) };
  }
  if (turn !== undefined) return { kind: 'left', turn: readTurn(turn.told()) };
  const supersedes = conversation.supersededBy(start.replaces);
  if (supersedes === 'changed' || !conversation.isAt(start.ifVersion)) return { kind: 'changed' };
  const started = conversation.start(start, supersedes, ms);
  if (start.key !== undefined) conversation.use(start.key, started, ms);
  return { kind: 'started', conversation: conversation.told(), turn: readTurn(started.told()) };
}

export function eventsOf(
  conversation: KeptConversation,
  parts: TurnIdParts,
  { afterId = 0, limit, process }: EventRequest,
  ms: number,
): EventPage | undefined {
  const turn = conversation.turnOf(parts);
  if (turn === undefined) return undefined;
  const { status } = turn;
  const events = conversation.eventsOf(parts.token);
  if (status === 'running' && process !== undefined) conversation.running(parts)?.readers.add(process);
  if (status === 'running' && events === undefined) return { status, events: [], isWhole: true };
  if (events === undefined || events.isGone(ms)) return { status, events: [], isWhole: false };
  return { status, ...events.page(afterId, limit) };
}

export function pageOf(conversation: KeptConversation, { afterSeq, limit }: MessagePage): MessageList {
  const messages: Message[] = [];
  let seq = Math.max(afterSeq, conversation.base) + 1;
  let bytes = 0;
  for (; messages.length < limit && bytes < PAGE_BYTES; seq += 1) {
    const told = conversation.message(seq);
    if (told === undefined) break;
    messages.push(readMessage(told));
    bytes += bytesOf(told);
  }
  const pending = conversation.turn?.told().messages.map(readMessage) ?? [];
  return { messages, hasMore: seq <= conversation.seq, pending };
}

function knownTurn(conversation: KeptConversation, start: TurnStart, ms: number): StartAnswer | undefined {
  const used = start.key === undefined ? undefined : conversation.used(start.key.hash, ms);
  const turn = used === undefined ? undefined : conversation.turnOf(used.turn);
  if (used === undefined || turn === undefined) return undefined;
  const running = conversation.running(used.turn);
  if (running !== undefined && (running.fence < start.fence || running.token === start.token)) return undefined;
  return { kind: 'known', turn, isSame: used.bodyHash === start.key?.bodyHash };
}

function bytesOf({ content, extras }: ToldMessage): number {
  return Buffer.byteLength(content) + Buffer.byteLength(extras);
}
