import { applyDecorators, SetMetadata } from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';

/** The metadata key that a guard looks for; its value is `true` on routes that need no Authorization. */
export const PUBLIC_ROUTE = 'coordinator:public';

/**
 * Marks a handler that answers without Authorization: for the guard, and for the hook that asks for the key before a body is read,
 * which knows only what Fastify knows of a route.
 */
export const Public = (): MethodDecorator =>
  applyDecorators(SetMetadata(PUBLIC_ROUTE, true), RouteConfig({ [PUBLIC_ROUTE]: true }));
