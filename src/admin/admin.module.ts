import { Module } from '@nestjs/common';
import { ConfigurableAdminModule } from './admin.module-definition.js';
import { LocksController } from './locks.controller.js';
import { StatusController } from './status.controller.js';

/**
 * What operators see and do under `/v1`; all of it wants the scope `admin`. Needs LockModule, AuthModule and AiModule, and the error filter,
 * the validation pipe and the docs of http/.
 *
 * @example
 * imports: [
 *   LockModule.forRoot({}),
 *   AuthModule.forRoot({ callers, logger }),
 *   AdminModule.forRootAsync({
 *     imports: [ai], // AiModule.forRoot({ … })
 *     inject: [StatusService],
 *     useFactory: (status: StatusService) => ({ status }),
 *   }),
 * ]
 */
@Module({ controllers: [LocksController, StatusController] })
export class AdminModule extends ConfigurableAdminModule {}
