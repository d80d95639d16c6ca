import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import type { Caller } from './caller.js';

/**
 * Hands the authenticated {@link Caller} to a handler.
 *
 * @throws {Error} on a public route: nobody was asked who they are there.
 *
 * @example
 * list(@CurrentCaller() caller: Caller) { … }
 */
export const CurrentCaller = createParamDecorator((_: unknown, context: ExecutionContext): Caller => callerOf(context));

function callerOf(context: ExecutionContext): Caller {
  const { caller } = context.switchToHttp().getRequest<FastifyRequest>();
  if (caller === undefined) throw new Error('no caller on a public route');
  return caller;
}
