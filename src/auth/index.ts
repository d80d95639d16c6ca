export { type ActFacts, addActFacts, AdminAudit } from './admin.audit.js';
export {
  InsufficientScopeError,
  InvalidApiKeyError,
  OriginNotAllowedError,
  TokensUnavailableError,
  TooManyGuessesError,
} from './auth.errors.js';
export { AuthModule } from './auth.module.js';
export type { AuthClock, AuthModuleOptions } from './auth.module-definition.js';
export { type Caller, ownerOf, type TokenUser } from './caller.js';
export { ANONYMOUS, CallerRegistry } from './caller.registry.js';
export { configureAuth } from './configure-auth.js';
export { CurrentCaller } from './current-caller.decorator.js';
export { RequireScope } from './require-scope.decorator.js';
