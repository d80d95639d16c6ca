import { ConfigurableModuleBuilder } from '@nestjs/common';
import type { RedisStoreOptions } from './redis.options.js';

/** Which store the pods share. */
export type StoreModuleOptions = { readonly kind: 'memory' } | RedisStoreOptions;

export const { ConfigurableModuleClass: ConfigurableStoreModule, MODULE_OPTIONS_TOKEN: STORE_OPTIONS } =
  new ConfigurableModuleBuilder<StoreModuleOptions>({ moduleName: 'Store' })
    .setClassMethodName('forRoot')
    .setExtras({ isGlobal: true }, (definition, { isGlobal }) => ({ ...definition, global: isGlobal }))
    .build();
