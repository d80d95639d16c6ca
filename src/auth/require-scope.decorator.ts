import { Reflector } from '@nestjs/core';
import type { Scope } from '../config/index.js';

/**
 * The caller must have this scope, else the request ends with 403 `insufficient_scope`. On a controller it holds for each of its
 * methods; a method's own comes on top of it.
 *
 * @example
 * @RequireScope('admin')
 * @Controller('v1/locks')
 */
export const RequireScope = Reflector.createDecorator<Scope>();
