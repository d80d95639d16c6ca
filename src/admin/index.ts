export { LockNotFoundError } from './admin.errors.js';
export { AdminModule } from './admin.module.js';
export type { AdminModuleOptions, StatusSource } from './admin.module-definition.js';
export type { Revocation, RevocationAudit } from './revocation.audit.js';
