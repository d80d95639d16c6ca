import type { MessageCard, MessageStatus } from '../window/message.card.js';
import type { Conversation, CountedTokens } from './conversation.js';
import type { Encoding } from '../../tokens/index.js';

/** A message before it has its place in the log. Texts are well-formed: no lone surrogates. */
export interface NewMessage {
  readonly role: MessageCard['role'];
  /** Text, or JSON of OpenAI's content parts. */
  readonly content: string;
  readonly isJson: boolean;
  /** JSON of OpenAI's `tool_calls`. */
  readonly toolCalls: string | undefined;
  /** Ids of the calls in it, for its card. */
  readonly calls: readonly string[];
  /** Of a tool's message: the id of the call that it answers. */
  readonly toolCallId: string | undefined;
  /** Who wrote it. */
  readonly model: string | undefined;
  /** JSON of what the provider counted. */
  readonly usage: string | undefined;
  readonly finishReason: string | undefined;
  readonly tokens: readonly CountedTokens[];
}

export interface Message extends Omit<NewMessage, 'calls' | 'tokens'> {
  /** The same while it is pending and in the log. */
  readonly id: string;
  /** Its place in the log, from 1, without gaps; while it is pending, the one that it will have. */
  readonly seq: number;
  readonly status: MessageStatus | 'pending';
  /** A later turn has answered again: shown, and never sent to a model. */
  readonly isSuperseded: boolean;
  readonly turnId: string;
  readonly createdAt: number;
}

export interface MessagePage {
  readonly afterSeq: number;
  readonly limit: number;
}

export interface MessageList {
  /** By `seq`, rising. Fewer than the limit where they are long. */
  readonly messages: readonly Message[];
  readonly hasMore: boolean;
  /** The running turn's, which follow the log's last one. */
  readonly pending: readonly Message[];
}

export interface CardRequest {
  readonly encoding: Encoding;
  /** Where the window of the last turn began, for the same model, the cards begin; else with the first message. */
  readonly model: string;
}

export interface CardList {
  readonly conversation: Conversation;
  /** By `seq`, rising, without those that are superseded. `tokens` is -1 where this encoding has not been counted. */
  readonly cards: readonly MessageCard[];
  /** Of the messages since the first card, those that a later turn has answered again. */
  readonly superseded: readonly number[];
}

/** A count that was missing. */
export interface MessageTokens extends Omit<CountedTokens, 'encoding'> {
  readonly seq: number;
}
