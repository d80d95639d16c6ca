import { Module } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { AdminAudit } from './admin.audit.js';
import { ApiKeyGuard } from './api-key.guard.js';
import { ConfigurableAuthModule } from './auth.module-definition.js';
import { Authenticator } from './authenticator.js';
import { CallerRegistry } from './caller.registry.js';
import { TokenVerifier } from './token.verifier.js';

/**
 * Guards every route of the application: who calls is known in each handler, or the request ends with 401.
 *
 * @example
 * imports: [AuthModule.forRoot({ callers: settings.callers, issuers: settings.issuers, logger })]
 */
@Module({
  providers: [CallerRegistry, TokenVerifier, Authenticator, AdminAudit, { provide: APP_GUARD, useClass: ApiKeyGuard }],
  exports: [CallerRegistry, Authenticator, AdminAudit],
})
export class AuthModule extends ConfigurableAuthModule {}
