import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { isPolled, type Outcome, routeOf, UNMATCHED_ROUTE } from '../outcome.js';
import { remoteParentOf } from './trace.context.js';
import type { Tracer, TraceSpan } from './trace.span.js';

/** Those of HTTP's semantic conventions; another one is `_OTHER`. */
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'CONNECT', 'TRACE']);

/** Begins a step for every request but those that machines poll. Its end is {@link endRequest}'s. */
export function traceRequests(server: FastifyInstance, tracer: Tracer): void {
  server.addHook('onRequest', (request, _reply, done) => {
    if (!isPolled(routeOf(request))) request.span = begun(tracer, request);
    done();
  });
  // After the body is read, whose events belong to no request: from here on all that is done is done for this one.
  server.addHook('preValidation', (request, _reply, done) => {
    if (request.span === undefined) done();
    else request.span.run(done);
  });
}

/** Whoever looks at a request from here on finds that it came without a trace. */
export function forgetTraces(server: FastifyInstance): void {
  server.addHook('onRequest', ({ raw: { headers } }, _reply, done) => {
    delete headers['traceparent'];
    delete headers['tracestate'];
    done();
  });
}

/** By HTTP's semantic conventions; the path is the route's template, since what stands in its place is somebody's. */
function begun(tracer: Tracer, request: FastifyRequest): TraceSpan {
  const method = METHODS.has(request.method) ? request.method : '_OTHER';
  const template = routeOf(request);
  const route = template === UNMATCHED_ROUTE ? undefined : template;
  const name = method === '_OTHER' ? 'HTTP' : method;
  return tracer.begin(route === undefined ? name : `${name} ${route}`, remoteParentOf(request.headers), {
    kind: 'server',
    attributes: {
      'http.request.method': method,
      'http.route': route,
      'url.path': route,
      'url.scheme': request.protocol,
      'network.protocol.version': request.raw.httpVersion,
      'coordinator.request.id': request.id,
    },
  });
}

/** Ends a request's step as the request has ended. */
export function endRequest({ span }: FastifyRequest, { raw }: FastifyReply, { fields }: Outcome): void {
  if (span === undefined) return;
  if (raw.headersSent) span.set({ 'http.response.status_code': raw.statusCode });
  if (!raw.writableFinished) span.set({ 'error.type': 'client_gone' });
  const { code } = fields;
  if (raw.headersSent && raw.statusCode >= 500) span.end(typeof code === 'string' ? code : String(raw.statusCode));
  else span.end();
}
