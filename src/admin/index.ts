export { LockNotFoundError } from './admin.errors.js';
export { AdminModule } from './admin.module.js';
