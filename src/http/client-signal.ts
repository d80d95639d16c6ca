import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ApiError } from './api-error.js';
import { DEFAULT_LIMITS } from './connection-limits.js';
import { OpenConnections } from './open-connections.js';
import type { OpenRequest } from './open-request.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** Set when the request arrives; undefined only on servers that createHttpAdapter did not make. */
    openRequest: OpenRequest | undefined;
    /** Why the path can't be read. */
    pathFault: ApiError | undefined;
  }
}

/**
 * Aborts as soon as nobody waits for the answer: with a ClientGoneError when the client closes its connection before the answer
 * is complete (also before its first byte), with an ApiError `draining` when the server goes down and the grace is over.
 * Never aborts after a complete answer, and leaves no listener on a connection that is kept alive.
 */
export function clientSignal(request: FastifyRequest, reply: FastifyReply): AbortSignal {
  return openRequestOf(request, reply).signal;
}

/**
 * Calls back once, when the answer is complete or nobody is left to read it, whichever comes first; also for a pipelined request
 * whose turn to be answered never came: its response alone would not tell.
 */
export function onRequestOver(request: FastifyRequest, reply: FastifyReply, listener: () => void): void {
  openRequestOf(request, reply).onOver(listener);
}

function openRequestOf(request: FastifyRequest, reply: FastifyReply): OpenRequest {
  request.openRequest ??= new OpenConnections(DEFAULT_LIMITS).open(request.raw, reply.raw);
  return request.openRequest;
}
