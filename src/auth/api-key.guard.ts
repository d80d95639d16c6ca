import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Scope } from '../config/index.js';
import { AdminAudit } from './admin.audit.js';
import { InsufficientScopeError } from './auth.errors.js';
import { authenticateRequest } from './authenticate-request.js';
import { Authenticator } from './authenticator.js';
import { isPublicHandler } from './public-route.js';
import { REQUIRED_SCOPE } from './require-scope.decorator.js';

/** The gate in front of every handler: a known caller with the scopes that the handler asks for, or a public route. */
@Injectable()
export class ApiKeyGuard implements CanActivate {
  constructor(
    private readonly authenticator: Authenticator,
    private readonly audit: AdminAudit,
    private readonly reflector: Reflector,
  ) {}

  /**
   * @throws {InvalidApiKeyError} where nobody is known by the key.
   * @throws {InsufficientScopeError} where the caller lacks a scope.
   */
  async canActivate(context: ExecutionContext): Promise<boolean> {
    if (isPublicHandler(this.reflector, context)) return true;
    const http = context.switchToHttp();
    const request = http.getRequest<FastifyRequest>();
    const caller = await authenticateRequest(this.authenticator, request, http.getResponse<FastifyReply>());
    const places = [context.getHandler(), context.getClass()];
    const scopes: readonly Scope[] = this.reflector.getAllAndMerge(REQUIRED_SCOPE, places);
    const lacking = scopes.find((scope) => !caller.scopes.includes(scope));
    if (lacking === undefined) return true;
    const error = new InsufficientScopeError(lacking);
    if (scopes.includes('admin')) this.audit.write(request, caller, { result: 'refused', code: error.code });
    throw error;
  }
}
