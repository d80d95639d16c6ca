import { Module } from '@nestjs/common';
import {
  ADMISSION_OPTIONS,
  type AdmissionModuleOptions,
  ConfigurableAdmissionModule,
} from './admission.module-definition.js';
import { AdmissionService } from './admission.service.js';
import type { AdmissionStore } from './admission.store.js';
import { MemoryAdmissionStore } from './memory-admission.store.js';
import { RedisAdmissionStore } from './redis-admission.store.js';

/**
 * Provides AdmissionService to all modules. On shutdown it ends what is open before the store closes.
 *
 * @example
 * imports: [
 *   StoreModule.forRoot(redis),
 *   AdmissionModule.forRootAsync({ inject: [STORE], useFactory: (store: AnyStore) => ({ store, pods: 3 }) }),
 * ]
 */
@Module({
  providers: [
    {
      provide: AdmissionService,
      inject: [ADMISSION_OPTIONS],
      useFactory: (options: AdmissionModuleOptions) => new AdmissionService(admissionStoreFor(options), options),
    },
  ],
  exports: [AdmissionService],
})
export class AdmissionModule extends ConfigurableAdmissionModule {}

function admissionStoreFor({ store, admissionStore }: AdmissionModuleOptions): AdmissionStore {
  if (admissionStore !== undefined) return admissionStore;
  return store === undefined || store.kind === 'memory' ? new MemoryAdmissionStore() : new RedisAdmissionStore(store);
}
