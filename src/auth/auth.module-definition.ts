import { ConfigurableModuleBuilder } from '@nestjs/common';
import type { CallerSettings } from '../config/index.js';

export interface AuthModuleOptions {
  /** Who may call. Empty: everybody is the anonymous caller, whatever Authorization they send. */
  readonly callers: readonly CallerSettings[];
}

export const { ConfigurableModuleClass: ConfigurableAuthModule, MODULE_OPTIONS_TOKEN: AUTH_OPTIONS } =
  new ConfigurableModuleBuilder<AuthModuleOptions>({ moduleName: 'Auth' })
    .setClassMethodName('forRoot')
    .setExtras({ isGlobal: true }, (definition, { isGlobal }) => ({ ...definition, global: isGlobal }))
    .build();
