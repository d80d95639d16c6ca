import type { AnyStore } from '../../store/index.js';
import type { ConversationStore } from './conversation.store.js';
import { MemoryConversationStore } from './memory-conversation.store.js';
import { RedisConversationStore } from './redis-conversation.store.js';

/** The conversations' store on what StoreModule provides under STORE. */
export function conversationStoreOn(store: AnyStore): ConversationStore {
  return store.kind === 'memory' ? new MemoryConversationStore() : new RedisConversationStore(store);
}
