import { applyDecorators, UseInterceptors } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Scope } from '../config/index.js';
import { AdminAuditInterceptor } from './admin-audit.interceptor.js';

/** The scopes that a handler or its controller asks for; the guard reads them. */
export const REQUIRED_SCOPE = Reflector.createDecorator<Scope>();

/**
 * The caller must have this scope, else the request ends with 403 `insufficient_scope`. On a controller it holds for each of its
 * methods; a method's own comes on top of it. What is done with `admin` is written down.
 *
 * @example
 * @RequireScope('admin')
 * @Controller('v1/locks')
 */
export function RequireScope(scope: Scope): ClassDecorator & MethodDecorator {
  const required = REQUIRED_SCOPE(scope);
  return scope === 'admin'
    ? applyDecorators(required, UseInterceptors(AdminAuditInterceptor))
    : applyDecorators(required);
}
