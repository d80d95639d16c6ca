import { RedisStore } from './redis.store.js';
import { StoreError } from './store.errors.js';
import type { StoreModuleOptions } from './store.module-definition.js';
import type { AnyStore, EmbeddedStore } from './store.js';

const EMBEDDED: EmbeddedStore = Object.freeze({ kind: 'memory', health: () => ({ kind: 'memory' }) as const });

/**
 * The store for the options. Waits for the first connection no longer than two commands may take: a Redis that is down is told of
 * by health() and comes back by itself.
 *
 * @throws StoreConfigurationError where only a change of settings or of Redis helps
 */
export async function openStore(options: StoreModuleOptions): Promise<AnyStore> {
  if (options.kind === 'memory') return EMBEDDED;
  const store = new RedisStore(options);
  try {
    await store.connected();
  } catch (error) {
    if (error instanceof StoreError && error.isRetryable) {
      options.notify?.(`the store is not there yet: ${error.message}`);
      return store;
    }
    await store.close();
    throw error;
  }
  return store;
}
