import type { MessageCard } from '../../src/conversation/window/message.card.js';

/** A message of a log, told shortly: its role, and what is special about it. */
export type ShortCard = Partial<MessageCard> & Pick<MessageCard, 'role'>;

export const user = (more: Partial<MessageCard> = {}): ShortCard => ({ role: 'user', ...more });
export const assistant = (more: Partial<MessageCard> = {}): ShortCard => ({ role: 'assistant', ...more });
/** An assistant's message that is nothing but calls. */
export const calling = (...calls: readonly string[]): ShortCard => ({
  role: 'assistant',
  calls,
  hasContent: false,
  callTokens: 10,
});
export const result = (answers: string): ShortCard => ({ role: 'tool', answers });

/** A log of messages of 10 tokens each unless they say otherwise. */
export function cardsOf(...messages: readonly ShortCard[]): readonly MessageCard[] {
  return messages.map((message, at) => ({
    seq: at + 1,
    status: 'complete',
    tokens: 10,
    callTokens: 0,
    hasContent: true,
    calls: [],
    ...message,
  }));
}
