import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Caller } from '../../auth/index.js';

/** A request under way, and who sent it. */
export interface Exchange {
  readonly caller: Caller;
  readonly request: FastifyRequest;
  /** For headers; what the handler returns is sent. */
  readonly reply: FastifyReply;
}

/**
 * Hands all of a request to a handler.
 *
 * @throws {Error} on a public route
 */
export const CurrentExchange = createParamDecorator((_: unknown, context: ExecutionContext): Exchange => {
  const request = context.switchToHttp().getRequest<FastifyRequest>();
  if (request.caller === undefined) throw new Error('no caller on a public route');
  return { caller: request.caller, request, reply: context.switchToHttp().getResponse<FastifyReply>() };
});
