import type { MessageCard } from './message.card.js';
import { type SentMessage, type Unit, unitsOf } from './window.units.js';

/** A window that is over its budget is emptied to this part of it, so that its head moves seldom and provider caches stay warm. */
const LOW_WATER = 0.7;

export interface WindowRequest {
  /** By `seq`, rising; the newest unit is the one to be answered. */
  readonly cards: readonly MessageCard[];
  /** Of the system prompt, tools, output schema and what primes the reply: always sent. */
  readonly fixedTokens: number;
  /** The most that all of it may take, tokens. */
  readonly budget: number;
  /** Where the window of the last turn began, by the same model; nothing older enters. Undefined: at the beginning. */
  readonly headSeq?: number;
}

/** What of a log is sent. A view: the log stays as it is. */
export interface WindowPlan {
  /** Oldest first; begins with a user's message. */
  readonly messages: readonly SentMessage[];
  /** Fixed part included. */
  readonly tokens: number;
  /** To be given to the next plan; undefined: nothing has been left behind. */
  readonly headSeq: number | undefined;
  /** Of the log's messages, those that are not sent. */
  readonly dropped: readonly number[];
}

/** The fixed part, or it and the newest message, are more than the budget. */
export interface WindowOverflow {
  readonly overBy: number;
  readonly fixedTokens: number;
  readonly messageTokens: number;
  readonly budget: number;
}

/**
 * Takes units from the newest back to the oldest until one does not fit; a hole in the middle would confuse models. Text is never
 * cut.
 */
export function planWindow(request: WindowRequest): WindowPlan | WindowOverflow {
  const { cards, fixedTokens, budget, headSeq } = request;
  const units = unitsOf(cards);
  const newest = units.at(-1);
  const overBy = fixedTokens + (newest?.tokens ?? 0) - budget;
  if (overBy > 0) return { overBy, fixedTokens, messageTokens: newest?.tokens ?? 0, budget };
  const since = units.filter((unit) => unit === newest || headSeq === undefined || seqOf(unit) >= headSeq);
  const fits = fixedTokens + tokensOf(since) <= budget;
  const kept = fits ? since : newestWithin(since, Math.floor(LOW_WATER * budget) - fixedTokens);
  return planOf(kept, request, units);
}

export function isOverflow(plan: WindowPlan | WindowOverflow): plan is WindowOverflow {
  return 'overBy' in plan;
}

function planOf(kept: readonly Unit[], { cards, fixedTokens }: WindowRequest, units: readonly Unit[]): WindowPlan {
  const [first] = kept;
  const messages = kept.flatMap((unit) => unit.messages);
  const sent = new Set(messages.map(({ card }) => card.seq));
  return {
    messages,
    tokens: fixedTokens + tokensOf(kept),
    headSeq: first === undefined || first === units[0] ? undefined : seqOf(first),
    dropped: cards.flatMap(({ seq }) => (sent.has(seq) ? [] : [seq])),
  };
}

/** The newest unit is in whatever it takes. */
function newestWithin(units: readonly Unit[], room: number): readonly Unit[] {
  let left = room;
  let from = units.length;
  while (from > 0) {
    left -= units[from - 1]?.tokens ?? 0;
    if (left < 0 && from < units.length) break;
    from -= 1;
  }
  return units.slice(from);
}

function seqOf({ messages: [user] }: Unit): number {
  return user.card.seq;
}

function tokensOf(units: readonly Unit[]): number {
  return units.reduce((sum, { tokens }) => sum + tokens, 0);
}
