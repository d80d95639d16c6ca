import { Module } from '@nestjs/common';
import { ConfigurableAdminModule } from './admin.module-definition.js';
import { LocksController } from './locks.controller.js';

/**
 * What operators see and do under `/v1`; all of it wants the scope `admin`. Needs LockModule and AuthModule, and the error filter,
 * the validation pipe and the docs of http/.
 *
 * @example
 * imports: [
 *   LockModule.forRoot({}),
 *   AuthModule.forRoot({ callers }),
 *   AdminModule.forRoot({ audit: (revocation) => logger.warn(revocation, 'lock revoked') }),
 * ]
 */
@Module({ controllers: [LocksController] })
export class AdminModule extends ConfigurableAdminModule {}
