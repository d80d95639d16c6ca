import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyRequest } from 'fastify';
import { authenticateRequest } from './authenticate-request.js';
import { Authenticator } from './authenticator.js';
import { isPublicRoute } from './public-route.js';

/**
 * Refuses a stranger's body before it is read. Nest's guards run when Fastify has already received and parsed the whole body,
 * 32 MB of it if need be; this hook asks for the key first wherever a body follows. The guard stays the authority: it asks again
 * for everything that comes through here. Call it before `app.init()`, after the hooks that give a request its id and its CORS
 * headers. Errors reach Fastify's error handler.
 */
export function configureAuth(app: NestFastifyApplication): void {
  const authenticator = app.get(Authenticator);
  app
    .getHttpAdapter()
    .getInstance()
    .addHook('onRequest', async (request, reply) => {
      if (bringsBody(request) && !isPublicRoute(request)) await authenticateRequest(authenticator, request, reply);
    });
}

/** RFC 9112 section 6.3: a request has a body if it says how long it is, or that it comes in chunks. */
function bringsBody({ headers }: FastifyRequest): boolean {
  if (headers['transfer-encoding'] !== undefined) return true;
  const length = headers['content-length'];
  return length !== undefined && length !== '0';
}
