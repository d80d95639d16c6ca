import { Inject, Module, type OnApplicationShutdown } from '@nestjs/common';
import { openStore } from './open-store.js';
import { RedisStore } from './redis.store.js';
import { ConfigurableStoreModule, STORE_OPTIONS } from './store.module-definition.js';
import type { AnyStore } from './store.js';
import { STORE } from './store.token.js';

/**
 * Provides the store under STORE to all modules, and ends its connections in onApplicationShutdown, after every module that is not
 * global itself. A global module that needs the store on its way down uses it in beforeApplicationShutdown at the latest. Redis
 * being down does not keep the application from starting; a wrong password, address kind or option does.
 *
 * @example
 * imports: [StoreModule.forRoot({ kind: 'memory' })]
 * constructor(@Inject(STORE) private readonly store: AnyStore) {}
 */
@Module({
  providers: [{ provide: STORE, inject: [STORE_OPTIONS], useFactory: openStore }],
  exports: [STORE],
})
export class StoreModule extends ConfigurableStoreModule implements OnApplicationShutdown {
  constructor(@Inject(STORE) private readonly store: AnyStore) {
    super();
  }

  async onApplicationShutdown(): Promise<void> {
    if (this.store instanceof RedisStore) await this.store.close();
  }
}
