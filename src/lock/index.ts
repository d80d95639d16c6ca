export type { ClientEnvironment, ClientTimer } from './client/client.ports.js';
export { currentLease } from './current-lease.js';
export type { OnBusy, WithLockOptions } from './decorator/busy.options.js';
export { LockInterceptor } from './decorator/lock.interceptor.js';
export type { LockKey, LockKeys } from './decorator/lock-key.js';
export { RequestLock } from './decorator/request-lock.decorator.js';
export { WithLock } from './decorator/with-lock.decorator.js';
export type { LockableMethod, WithLockDecorator } from './decorator/with-lock.types.js';
export type { Lease } from './lease.js';
export {
  type LeaseEnd,
  LockBusyError,
  LockClosedError,
  type LockHolder,
  LockKeyError,
  LockLostError,
  LockOptionsError,
  LockStoreError,
  LockTimeoutError,
} from './lock.errors.js';
export { LockModule } from './lock.module.js';
export type { LockModuleOptions } from './lock.module-definition.js';
export type { LockObserver, WaitOutcome } from './lock.observer.js';
export type { LockMode, LockOptions } from './lock.options.js';
export { type LeaseWork, LockService, type LockServiceOptions } from './lock.service.js';
export type {
  AcquireAnswer,
  AcquireCommand,
  BeatAnswer,
  BeatCommand,
  LeaveAnswer,
  LeaveCommand,
  LockMessage,
  LockState,
  LockStore,
  RevokeAnswer,
  RevokeCommand,
  WaiterAnswer,
} from './lock.store.js';
export { MemoryLockStore } from './memory-lock.store.js';
export { RedisLockStore } from './redis-lock.store.js';
