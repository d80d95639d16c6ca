import type { MessageCard } from './message.card.js';

/** A message that is sent. */
export interface SentMessage {
  readonly card: MessageCard;
  /** Its tool calls are left out, since not all of them were answered: providers refuse a call without its result. */
  readonly isWithoutCalls: boolean;
  readonly tokens: number;
}

/** A user's message with everything up to the next one. Only whole units enter or leave a window, so that no pair is torn. */
export interface Unit {
  readonly messages: readonly [SentMessage, ...SentMessage[]];
  readonly tokens: number;
}

/**
 * The units of a log, oldest first, repaired: what failed, what is empty, calls that were not all answered, answers to no call, and
 * whatever stands before the first user's message are left out.
 *
 * @param cards - by `seq`, rising
 */
export function unitsOf(cards: readonly MessageCard[]): readonly Unit[] {
  const starts = cards.flatMap(({ role }, at) => (role === 'user' ? [at] : []));
  return starts.flatMap((start, index) => unitOf(cards.slice(start, starts[index + 1])) ?? []);
}

function unitOf([user, ...replies]: readonly MessageCard[]): Unit | undefined {
  if (user === undefined || user.status === 'failed' || !user.hasContent) return undefined;
  const messages = [whole(user), ...repaired(replies.filter(({ status }) => status !== 'failed'))] as const;
  return { messages, tokens: messages.reduce((sum, { tokens }) => sum + tokens, 0) };
}

/** One assistant's message with the tools' answers to it at a time. */
function repaired(replies: readonly MessageCard[]): readonly SentMessage[] {
  const sent: SentMessage[] = [];
  for (let at = 0; at < replies.length; at += 1) {
    const card = replies[at];
    // A tool's message that is met here follows no call.
    if (card?.role !== 'assistant') continue;
    const answers = answersAfter(replies, at);
    if (isAnswered(card, answers)) {
      sent.push(whole(card), ...answers.map(whole));
      at += answers.length;
    } else if (card.hasContent) {
      sent.push({ card, isWithoutCalls: true, tokens: Math.max(0, card.tokens - card.callTokens) });
    }
  }
  return sent;
}

function answersAfter(replies: readonly MessageCard[], at: number): readonly MessageCard[] {
  const end = replies.findIndex(({ role }, index) => index > at && role !== 'tool');
  return replies.slice(at + 1, end === -1 ? undefined : end);
}

/** Each call exactly once, in whatever order, and nothing else. */
function isAnswered({ calls, hasContent }: MessageCard, answers: readonly MessageCard[]): boolean {
  if (calls.length === 0) return hasContent && answers.length === 0;
  const answered = new Set(answers.map(({ answers: call }) => call));
  return (
    new Set(calls).size === calls.length && answers.length === calls.length && calls.every((call) => answered.has(call))
  );
}

function whole(card: MessageCard): SentMessage {
  return { card, isWithoutCalls: false, tokens: card.tokens };
}
