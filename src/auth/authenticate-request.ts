import type { FastifyReply, FastifyRequest } from 'fastify';
import { addOutcome } from '../observability/index.js';
import { InvalidApiKeyError } from './auth.errors.js';
import type { Caller } from './caller.js';
import type { CallerRegistry } from './caller.registry.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** Set once the caller is known; never on public routes. */
    caller?: Caller;
  }
}

/**
 * Finds out who sent a request and writes it on the request and into its outcome line. Asked twice, it answers the same.
 *
 * @throws {InvalidApiKeyError} with `WWW-Authenticate` set on the reply, as RFC 9110 section 15.5.2 demands of a 401.
 */
export function authenticateRequest(registry: CallerRegistry, request: FastifyRequest, reply: FastifyReply): Caller {
  if (request.caller !== undefined) return request.caller;
  try {
    const caller = registry.authenticate(request.raw.rawHeaders);
    request.caller = caller;
    addOutcome(request, { caller: caller.id });
    return caller;
  } catch (error) {
    if (error instanceof InvalidApiKeyError) void reply.header('www-authenticate', 'Bearer');
    throw error;
  }
}
