import { ConfigurableModuleBuilder } from '@nestjs/common';
import type { AnyStore } from '../store/index.js';
import type { LockServiceOptions } from './lock.service.js';
import type { LockStore } from './lock.store.js';

export interface LockModuleOptions extends LockServiceOptions {
  /** What StoreModule provides under STORE. Default: locks of this process alone, in memory. */
  readonly store?: AnyStore;
  /** In place of it: another implementation. */
  readonly lockStore?: LockStore;
}

export const { ConfigurableModuleClass: ConfigurableLockModule, MODULE_OPTIONS_TOKEN: LOCK_OPTIONS } =
  new ConfigurableModuleBuilder<LockModuleOptions>({ moduleName: 'Lock' })
    .setClassMethodName('forRoot')
    .setExtras({ isGlobal: true }, (definition, { isGlobal }) => ({ ...definition, global: isGlobal }))
    .build();
