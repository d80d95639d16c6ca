export {
  AdmissionBudgetError,
  AdmissionBusyError,
  AdmissionClosedError,
  AdmissionOptionsError,
  AdmissionOverloadedError,
  AdmissionStoreError,
  AdmissionTooLargeError,
  type RefusalFacts,
  type ScopeFacts,
} from './admission.errors.js';
export { AdmissionModule } from './admission.module.js';
export type { AdmissionModuleOptions } from './admission.module-definition.js';
export type { AdmissionObserver, AdmissionOutcome, ReservationEnd } from './admission.observer.js';
export type { Wish } from './admission.options.js';
export {
  AdmissionRulesError,
  type BudgetPeriod,
  type BudgetRule,
  type BudgetUnit,
  isUnlimited,
  type ScopeLimits,
  type ScopeRules,
  scopeRules,
  type TokenRule,
  type WindowLimit,
} from './admission.rules.js';
export { type AdmissionHealth, AdmissionService, type AdmissionServiceOptions } from './admission.service.js';
export type {
  AcquireAnswer,
  AcquireCommand,
  AdmissionMessage,
  AdmissionStore,
  BeatAnswer,
  BeatCommand,
  Booking,
  CancelAnswer,
  CancelCommand,
  HoldCommand,
  LearnCommand,
  LearnedLimit,
  Notice,
  Rule,
  Scope,
  ScopeNews,
  ScopeState,
  SettleAnswer,
  SettleCommand,
  WindowUsage,
} from './admission.store.js';
export type { Spending } from './client/scope.line.js';
export { MemoryAdmissionStore } from './memory-admission.store.js';
export { RedisAdmissionStore } from './redis-admission.store.js';
export type { Reservation } from './reservation.js';
