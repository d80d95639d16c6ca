import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { InsufficientScopeError } from './auth.errors.js';
import { authenticateRequest } from './authenticate-request.js';
import type { Caller } from './caller.js';
import { CallerRegistry } from './caller.registry.js';
import { isPublicHandler } from './public-route.js';
import { RequireScope } from './require-scope.decorator.js';

/** The gate in front of every handler: a known caller with the scopes that the handler asks for, or a public route. */
@Injectable()
export class ApiKeyGuard implements CanActivate {
  constructor(
    private readonly registry: CallerRegistry,
    private readonly reflector: Reflector,
  ) {}

  /**
   * @throws {InvalidApiKeyError} where nobody is known by the key.
   * @throws {InsufficientScopeError} where the caller lacks a scope.
   */
  canActivate(context: ExecutionContext): boolean {
    if (isPublicHandler(this.reflector, context)) return true;
    const http = context.switchToHttp();
    const caller = authenticateRequest(
      this.registry,
      http.getRequest<FastifyRequest>(),
      http.getResponse<FastifyReply>(),
    );
    this.requireScopes(caller, context);
    return true;
  }

  private requireScopes(caller: Caller, context: ExecutionContext): void {
    const scopes = this.reflector.getAllAndMerge(RequireScope, [context.getHandler(), context.getClass()]);
    const lacking = scopes.find((scope) => !caller.scopes.includes(scope));
    if (lacking !== undefined) throw new InsufficientScopeError(lacking);
  }
}
