import type { FastifyRequest } from 'fastify';
import { remoteParentOf, type TraceIds } from './trace.context.js';
import type { TraceSpan } from './trace.span.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** Of a request that is traced. */
    span?: TraceSpan;
  }
}

/** The request's own step, or the one in another service that it says it belongs to. */
export function traceIdsOf({ span, headers }: FastifyRequest): TraceIds | undefined {
  return span ?? remoteParentOf(headers);
}
