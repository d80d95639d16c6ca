export { InsufficientScopeError, InvalidApiKeyError } from './auth.errors.js';
export { AuthModule } from './auth.module.js';
export type { AuthModuleOptions } from './auth.module-definition.js';
export type { Caller } from './caller.js';
export { ANONYMOUS, CallerRegistry } from './caller.registry.js';
export { configureAuth } from './configure-auth.js';
export { CurrentCaller } from './current-caller.decorator.js';
export { RequireScope } from './require-scope.decorator.js';
