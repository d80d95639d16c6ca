import type { Place } from './conversation.js';
import type { ConversationStore } from './conversation.store.js';
import type { Message } from './message.js';

/** Messages per question. */
const PAGE = 200;

/**
 * The log's messages after a place in it, page by page, so that a long conversation is never in memory as a whole. Pending ones are
 * left out. It ends where the conversation ends meanwhile.
 *
 * @throws StoreError
 */
export async function* readLog(
  store: Pick<ConversationStore, 'messages'>,
  place: Place,
  afterSeq = 0,
): AsyncGenerator<readonly Message[]> {
  for (let after = afterSeq; ;) {
    const page = await store.messages(place, { afterSeq: after, limit: PAGE });
    const last = page?.messages.at(-1);
    if (page === undefined || last === undefined) return;
    yield page.messages;
    if (!page.hasMore) return;
    after = last.seq;
  }
}
