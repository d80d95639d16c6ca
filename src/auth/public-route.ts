import { Reflector } from '@nestjs/core';
import type { ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';

/** What the `Public()` decorator of http/ writes; agreed by value, since neither module imports the other. */
export const PUBLIC_KEY = 'coordinator:public';

/** True where the handler or its controller is marked as public. */
export function isPublicHandler(reflector: Reflector, context: ExecutionContext): boolean {
  return reflector.getAllAndOverride<unknown>(PUBLIC_KEY, [context.getHandler(), context.getClass()]) === true;
}

declare module 'fastify' {
  interface FastifyContextConfig {
    [PUBLIC_KEY]?: boolean;
  }
}

/**
 * True where a route is known to be public before Nest takes over: `Public()` writes the same key into Nest's `RouteConfig`, which
 * Nest hands to Fastify. Bare metadata is seen by the guard only: such routes serve strangers as long as they send no body.
 */
export function isPublicRoute({ routeOptions }: FastifyRequest): boolean {
  return routeOptions.config[PUBLIC_KEY] === true;
}
