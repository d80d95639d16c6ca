import { Module } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { ApiKeyGuard } from './api-key.guard.js';
import { ConfigurableAuthModule } from './auth.module-definition.js';
import { CallerRegistry } from './caller.registry.js';

/**
 * Guards every route of the application: who calls is known in each handler, or the request ends with 401.
 *
 * @example
 * imports: [AuthModule.forRoot({ callers: settings.callers })]
 */
@Module({
  providers: [CallerRegistry, { provide: APP_GUARD, useClass: ApiKeyGuard }],
  exports: [CallerRegistry],
})
export class AuthModule extends ConfigurableAuthModule {}
