import type { FastifyReply, FastifyRequest } from 'fastify';
import { addOutcome } from '../observability/index.js';
import { InvalidApiKeyError } from './auth.errors.js';
import type { Authenticator } from './authenticator.js';
import type { Caller } from './caller.js';
import { clientAddress } from './client-address.js';
import { checkOrigin } from './origin.rule.js';

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
 * @throws {OriginNotAllowedError} where the caller may not call from this page.
 * @throws what {@link Authenticator.authenticate} throws beside it.
 */
export async function authenticateRequest(
  authenticator: Authenticator,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<Caller> {
  if (request.caller !== undefined) return request.caller;
  try {
    const { rawHeaders } = request.raw;
    const caller = await authenticator.authenticate({ rawHeaders, address: clientAddress(request) });
    addOutcome(request, { caller: caller.id });
    checkOrigin(caller, request.headers.origin);
    request.caller = caller;
    return caller;
  } catch (error) {
    if (error instanceof InvalidApiKeyError) {
      void reply.header('www-authenticate', 'Bearer');
      addOutcome(request, { refused: error.reason });
    }
    throw error;
  }
}
