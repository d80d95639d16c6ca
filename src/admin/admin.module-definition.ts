import { ConfigurableModuleBuilder } from '@nestjs/common';
import type { RevocationAudit } from './revocation.audit.js';

export interface AdminModuleOptions {
  /** Who writes down what operators did. */
  readonly audit: RevocationAudit;
}

export const { ConfigurableModuleClass: ConfigurableAdminModule, MODULE_OPTIONS_TOKEN: ADMIN_OPTIONS } =
  new ConfigurableModuleBuilder<AdminModuleOptions>({ moduleName: 'Admin' }).setClassMethodName('forRoot').build();
