import type { ConversationList, ListPage, ListPlace } from '../conversation.js';
import type { KeptConversation } from './kept.conversation.js';

/** The last used one first; of those used at one time, the one whose id is last in the order of bytes. */
export function listOf(owned: readonly KeptConversation[], { after, limit }: ListPage): ConversationList {
  const rest = owned
    .filter((conversation) => after === undefined || compare(conversation, after) > 0)
    .sort((one, other) => compare(one, other));
  const page = rest.slice(0, limit);
  const last = page.at(-1);
  return {
    conversations: page.map((conversation) => conversation.told()),
    hasMore: rest.length > limit,
    last: last === undefined ? undefined : { updatedAt: last.updatedAt, id: last.id },
  };
}

function compare(one: ListPlace, other: ListPlace): number {
  return other.updatedAt - one.updatedAt || Buffer.compare(Buffer.from(other.id), Buffer.from(one.id));
}
