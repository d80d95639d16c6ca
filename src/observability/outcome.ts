import type { FastifyReply, FastifyRequest } from 'fastify';
import type { TraceIds } from './tracing/trace.context.js';
import { traceIdsOf } from './tracing/request.span.js';

/** What a module adds to a request's outcome line: flat, short, no text of a prompt or an answer. */
export type OutcomeFields = Readonly<Record<string, string | number | boolean | undefined>>;

declare module 'fastify' {
  interface FastifyRequest {
    /** Written by `addOutcome()`, logged once the response is over. */
    outcomeFields?: (OutcomeFields | (() => OutcomeFields))[];
  }
}

/** How a request ended. */
export interface Outcome {
  readonly requestId: string;
  readonly method: string;
  /** The route's template, `/v1/models/:id`; `unmatched` where no route fits. Never a path that somebody typed. */
  readonly route: string;
  /** The status sent; 499 where the client left before the end. */
  readonly status: number;
  readonly durationMs: number;
  readonly fields: OutcomeFields;
  /** Undefined: it belongs to no trace. */
  readonly trace: TraceIds | undefined;
}

/** nginx's status for a client that closed its connection before the answer was complete. */
export const CLIENT_CLOSED_REQUEST = 499;

const HTTP_VERSION_NOT_SUPPORTED = 505;

/** The route label of requests that fit no route. */
export const UNMATCHED_ROUTE = 'unmatched';

/** Asked every few seconds by machines. */
const POLLED_ROUTES = new Set(['/health', '/ready', '/metrics']);

/** Whether a route is one that machines ask for every few seconds: nobody wants a line, or a trace, of each. */
export function isPolled(route: string): boolean {
  return POLLED_ROUTES.has(route);
}

/** Whether it is the server, or who stands behind it, that could not answer; a version of HTTP that is not spoken is the client's choice. */
export function isServersFault(status: number): boolean {
  return status >= 500 && status !== HTTP_VERSION_NOT_SUPPORTED;
}

/** The template of a request's route; see {@link Outcome.route}. */
export function routeOf(request: FastifyRequest): string {
  return request.is404 ? UNMATCHED_ROUTE : (request.routeOptions.url ?? UNMATCHED_ROUTE);
}

/**
 * Adds fields to the one line that is logged of a request when it is over; a function is asked for them then. A later value of a
 * field replaces an earlier one.
 */
export function addOutcome(request: FastifyRequest, fields: OutcomeFields | (() => OutcomeFields)): void {
  request.outcomeFields ??= [];
  request.outcomeFields.push(fields);
}

/** The outcome of a request whose connection or response has just closed. */
export function outcomeOf(request: FastifyRequest, reply: FastifyReply, durationMs: number): Outcome {
  return {
    requestId: request.id,
    method: request.method,
    route: routeOf(request),
    status: reply.raw.writableFinished ? reply.raw.statusCode : CLIENT_CLOSED_REQUEST,
    durationMs,
    fields: fieldsOf(request),
    trace: traceIdsOf(request),
  };
}

function fieldsOf({ outcomeFields = [] }: FastifyRequest): OutcomeFields {
  const fields = {};
  for (const part of outcomeFields) Object.assign(fields, typeof part === 'function' ? part() : part);
  return fields;
}
