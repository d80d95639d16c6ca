import { ConfigurableModuleBuilder } from '@nestjs/common';
import type { AnyStore } from '../store/index.js';
import type { AdmissionServiceOptions } from './admission.service.js';
import type { AdmissionStore } from './admission.store.js';

export interface AdmissionModuleOptions extends AdmissionServiceOptions {
  /** What StoreModule provides under STORE. Default: limits of this process alone, in memory. */
  readonly store?: AnyStore;
  /** In place of it: another implementation. */
  readonly admissionStore?: AdmissionStore;
}

export const { ConfigurableModuleClass: ConfigurableAdmissionModule, MODULE_OPTIONS_TOKEN: ADMISSION_OPTIONS } =
  new ConfigurableModuleBuilder<AdmissionModuleOptions>({ moduleName: 'Admission' })
    .setClassMethodName('forRoot')
    .setExtras({ isGlobal: true }, (definition, { isGlobal }) => ({ ...definition, global: isGlobal }))
    .build();
