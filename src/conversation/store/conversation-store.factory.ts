import type { AnyStore, Durability } from '../../store/index.js';
import type { ConversationStore } from './conversation.store.js';
import { MemoryConversationStore } from './memory-conversation.store.js';
import { RedisConversationStore } from './redis-conversation.store.js';

/**
 * The conversations' store on what StoreModule provides under STORE.
 *
 * @param durability - where Redis keeps them; by default the primary's word is enough
 */
export function conversationStoreOn(store: AnyStore, durability?: Durability): ConversationStore {
  return store.kind === 'memory' ? new MemoryConversationStore() : new RedisConversationStore(store, durability);
}
