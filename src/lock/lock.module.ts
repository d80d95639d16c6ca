import { Module } from '@nestjs/common';
import { ConfigurableLockModule, LOCK_OPTIONS, type LockModuleOptions } from './lock.module-definition.js';
import { LockService } from './lock.service.js';
import type { LockStore } from './lock.store.js';
import { MemoryLockStore } from './memory-lock.store.js';
import { RedisLockStore } from './redis-lock.store.js';

/**
 * Provides LockService to all modules. On shutdown it lets go of all locks before the store closes.
 *
 * @example
 * imports: [StoreModule.forRoot(redis), LockModule.forRootAsync({ inject: [STORE], useFactory: (store: AnyStore) => ({ store }) })]
 *
 * @example
 * imports: [LockModule.forRoot({})] // without Redis: locks of this process alone
 */
@Module({
  providers: [
    {
      provide: LockService,
      inject: [LOCK_OPTIONS],
      useFactory: (options: LockModuleOptions) => new LockService(lockStoreFor(options), options),
    },
  ],
  exports: [LockService],
})
export class LockModule extends ConfigurableLockModule {}

function lockStoreFor({ store, lockStore }: LockModuleOptions): LockStore {
  if (lockStore !== undefined) return lockStore;
  return store === undefined || store.kind === 'memory' ? new MemoryLockStore() : new RedisLockStore(store);
}
