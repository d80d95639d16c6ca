import type { FastifyReply, FastifyRequest } from 'fastify';
import { OpenConnections, type OpenRequest } from './open-request.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** Set when the request arrives; undefined only on servers that createHttpAdapter did not make. */
    openRequest: OpenRequest | undefined;
  }
}

/**
 * Aborts as soon as nobody waits for the answer: with a ClientGoneError when the client closes its connection before the answer
 * is complete (also before its first byte), with an ApiError `draining` when the server goes down and the grace is over.
 * Never aborts after a complete answer, and leaves no listener on a connection that is kept alive.
 */
export function clientSignal(request: FastifyRequest, reply: FastifyReply): AbortSignal {
  request.openRequest ??= new OpenConnections().open(request.raw, reply.raw);
  return request.openRequest.signal;
}
