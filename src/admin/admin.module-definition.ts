import { ConfigurableModuleBuilder } from '@nestjs/common';
import type { StatusService } from '../ai/index.js';

/** Who knows how the upstreams are. */
export type StatusSource = Pick<StatusService, 'look'>;

export interface AdminModuleOptions {
  readonly status: StatusSource;
}

export const { ConfigurableModuleClass: ConfigurableAdminModule, MODULE_OPTIONS_TOKEN: ADMIN_OPTIONS } =
  new ConfigurableModuleBuilder<AdminModuleOptions>({ moduleName: 'Admin' }).setClassMethodName('forRoot').build();
