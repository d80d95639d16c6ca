import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { ApiError } from './api-error.js';
import type { Drain } from './drain.js';
import { isLoopbackHost } from './host-rule.js';
import type { HttpOptions } from './http-options.js';
import { lingering } from './lingering.js';
import { methodNotAllowed, pathOf, routeNotFound, RouteTable } from './route-table.js';

/** Answered through the whole drain, and never waited for: whoever asks has to see its end. */
const PROBES: ReadonlySet<string> = new Set(['/health', '/ready', '/metrics']);

/** What every request passes before its body is read, and every answer before it is sent. */
export function installRequestHooks(instance: FastifyInstance, options: HttpOptions): void {
  const routes = new RouteTable();
  instance.addHook('onRoute', (route) => {
    routes.add(route.method, route.url);
  });
  instance.addHook('onRequest', (request, reply, done) => {
    checkHost(request, options.loopbackHostsOnly);
    if (request.pathFault !== undefined) throw request.pathFault;
    if (request.openRequest !== undefined && !PROBES.has(pathOf(request.raw.url ?? '/'))) {
      options.drain.admit(request.openRequest);
    }
    if (answerUnrouted(routes, request, reply)) return;
    done();
  });
  instance.addHook('onSend', (request, reply, payload, done) => {
    done(null, finish(options.drain, request, reply, payload));
  });
}

function checkHost(request: FastifyRequest, loopbackOnly: boolean): void {
  const { headers, httpVersion } = request.raw;
  if (loopbackOnly && !isLoopbackHost(headers.host)) {
    throw new ApiError('host_not_allowed', 'without configured callers only loopback host names are answered');
  }
  if (headers.host === undefined && httpVersion === '1.1')
    throw new ApiError('invalid_request', 'the Host header is missing');
}

/**
 * Refuses paths and methods that nothing serves; OPTIONS tells what is served.
 * @returns whether the request is answered
 */
function answerUnrouted(routes: RouteTable, request: FastifyRequest, reply: FastifyReply): boolean {
  // `*` is the preflight's catch-all route; a preflight of an allowed origin never comes here.
  if (!request.is404 && !(request.method === 'OPTIONS' && request.routeOptions.url === '*')) return false;
  const url = request.raw.url ?? '/';
  const methods = routes.methodsAt(pathOf(url));
  if (methods.length === 0) throw routeNotFound(request.method, url);
  reply.header('allow', methods.join(', '));
  if (request.method !== 'OPTIONS') throw methodNotAllowed(request.method, url, methods);
  void reply.code(204).send();
  return true;
}

function finish(drain: Drain, request: FastifyRequest, reply: FastifyReply, payload: unknown): unknown {
  reply.header('x-request-id', request.id).header('x-content-type-options', 'nosniff');
  // After a 413 there may be more to come than anyone wants to read.
  if (drain.state !== 'serving' || reply.statusCode === 413) reply.header('connection', 'close');
  const isClosing = reply.getHeader('connection') === 'close';
  if (!isClosing || request.raw.complete || !(typeof payload === 'string' || Buffer.isBuffer(payload))) return payload;
  reply.header('content-length', Buffer.byteLength(payload));
  return lingering(payload, request.raw);
}
