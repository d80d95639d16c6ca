import type { AnyStore } from '../../../store/index.js';
import type { AnswerStore } from './answer.store.js';
import { MemoryAnswerStore } from './memory-answer.store.js';
import { RedisAnswerStore } from './redis-answer.store.js';

/** The answers' store on what StoreModule provides under STORE. */
export function answerStoreOn(store: AnyStore): AnswerStore {
  return store.kind === 'memory' ? new MemoryAnswerStore() : new RedisAnswerStore(store);
}
