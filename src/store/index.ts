export { ScoreSet } from './memory/score.set.js';
export { escapeName } from './names.js';
export { openStore } from './open-store.js';
export { AbortListeners } from './process/abort.listeners.js';
export { BriefMap } from './process/brief.map.js';
export type { ClientEnvironment, ClientTimer } from './process/client.environment.js';
export { guardedObserver } from './process/guarded.observer.js';
export { nodeEnvironment } from './process/node.environment.js';
export type {
  Address,
  ClientOptions,
  ClusterOptions,
  RedisAccess,
  RedisStoreOptions,
  SentinelOptions,
  StandaloneOptions,
  StoreTuning,
} from './redis.options.js';
export { RedisStore } from './redis.store.js';
export { headerFaults, parseHeader, type ScriptHeader } from './script.header.js';
export { type LoadOptions, loadScripts, parseScript, type ScriptClock } from './script.loader.js';
export {
  StoreConfigurationError,
  StoreError,
  type StoreFaultReason,
  StoreTimeoutError,
  StoreUnavailableError,
} from './store.errors.js';
export { StoreModule } from './store.module.js';
export type { StoreModuleOptions } from './store.module-definition.js';
export type { AnyStore, DownPolicy, Durability, EmbeddedStore, Script, Store, StoreHealth } from './store.js';
export { STORE } from './store.token.js';
