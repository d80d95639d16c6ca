export { LockNotFoundError } from './admin.errors.js';
export { AdminModule } from './admin.module.js';
export type { AdminModuleOptions, StatusSource } from './admin.module-definition.js';
