import { createHash } from 'node:crypto';
import { escapeName } from '../../store/index.js';
import type { Place } from './conversation.js';

/** The keys that every script of a conversation takes, in their order: the conversation, its log, the cards, and the running turn. */
export type ConversationKeys = readonly [string, string, string, string];

/**
 * They share one hash tag, made of owner and id together: nobody else can name it, and a chosen id says nothing. The number rises with
 * the format, so that pods of two versions don't read each other.
 */
export function conversationKeys(prefix: string, { owner, id }: Place): ConversationKeys {
  const base = `${prefix}cv:1:{${hashOf([owner, id])}}`;
  return [base, `${base}:l`, `${base}:t`, `${base}:r`];
}

/** The events of one of its turns. */
export function eventsKey([conversation]: ConversationKeys, token: string): string {
  return `${conversation}:e:${token}`;
}

/** What an Idempotency-Key was used for. */
export function usedKey([conversation]: ConversationKeys, hash: string): string {
  return `${conversation}:i:${escapeName(hash)}`;
}

/** An owner's list: by last use, and by end. */
export function ownerKeys(prefix: string, owner: string): readonly [string, string] {
  const base = `${prefix}cv:1:{o:${hashOf([owner])}}`;
  return [`${base}:u`, `${base}:x`];
}

/** Before the (escaped) name of a process; together its channel. */
export function channelPrefix(prefix: string): string {
  return `${prefix}cv:1:`;
}

export function channelOf(prefix: string, process: string): string {
  return `${channelPrefix(prefix)}${escapeName(process)}`;
}

/** JSON keeps parts apart, and lone surrogates from becoming all alike. */
function hashOf(parts: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64url');
}
