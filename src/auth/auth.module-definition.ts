import { ConfigurableModuleBuilder } from '@nestjs/common';
import type { CallerSettings, IssuerSettings } from '../config/index.js';
import type { Logger } from '../observability/index.js';

export interface AuthModuleOptions {
  /** Who may call. Empty: everybody is the anonymous caller, whatever Authorization they send. */
  readonly callers: readonly CallerSettings[];
  /** Whose tokens speak for callers; default: nobody's. */
  readonly issuers?: readonly IssuerSettings[];
  /** Hears of admin acts, of addresses that guess keys, and of issuers that are out of reach; default: nobody. */
  readonly logger?: Pick<Logger, 'info' | 'warn'>;
  /** Default: this machine's. */
  readonly clock?: AuthClock;
}

export interface AuthClock {
  /** Unix milliseconds, for what others have dated. */
  now(): number;
  /** Milliseconds that never step back, for what is measured here. */
  elapsed(): number;
}

export const SYSTEM_CLOCK: AuthClock = { now: () => Date.now(), elapsed: () => performance.now() };

export const { ConfigurableModuleClass: ConfigurableAuthModule, MODULE_OPTIONS_TOKEN: AUTH_OPTIONS } =
  new ConfigurableModuleBuilder<AuthModuleOptions>({ moduleName: 'Auth' })
    .setClassMethodName('forRoot')
    .setExtras({ isGlobal: true }, (definition, { isGlobal }) => ({ ...definition, global: isGlobal }))
    .build();
