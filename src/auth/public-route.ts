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
 * True where a route is known to be public before Nest takes over: its method bears Nest's `RouteConfig` with the same key, which
 * Nest hands to Fastify. A mark without it (that of a whole controller) is seen by the guard only, so such routes serve strangers
 * as long as they send no body.
 */
export function isPublicRoute({ routeOptions }: FastifyRequest): boolean {
  return routeOptions.config[PUBLIC_KEY] === true;
}
