import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { ApiError } from './api-error.js';
import { Framing } from './framing.js';
import { isLoopbackHost, isValidHost } from './host-rule.js';
import type { HttpOptions } from './http-options.js';
import { lingering } from './lingering.js';
import { methodNotAllowed, pathOf, routeNotFound, RouteTable } from './route-table.js';
import { securityHeaders } from './security-headers.js';

/** What is read of a refused request's body for its connection's sake, bytes. */
const MUCH_BYTES = 65_536;

/** Answered through the whole drain, and never waited for: whoever asks has to see its end. */
const PROBES: ReadonlySet<string> = new Set(['/health', '/ready', '/metrics']);

/** What every request passes before its body is read, and every answer before it is sent. */
export function installRequestHooks(instance: FastifyInstance, options: HttpOptions): void {
  const routes = new RouteTable();
  const framing = new Framing();
  instance.addHook('onRoute', (route) => {
    routes.add(route.method, route.url);
  });
  instance.addHook('onRequest', (request, reply, done) => {
    checkFieldCount(request, options.limits.headerFields);
    framing.check(request, reply);
    checkHost(request, options.loopbackHostsOnly);
    if (request.pathFault !== undefined) throw request.pathFault;
    if (request.openRequest !== undefined && !PROBES.has(pathOf(request.raw.url ?? '/'))) {
      options.drain.admit(request.openRequest);
    }
    if (answerUnrouted(routes, request, reply)) return;
    done();
  });
  instance.addHook('onSend', (request, reply, payload, done) => {
    done(null, finish(options, { request, reply, payload }));
  });
}

/** Node would leave out the fields beyond its own limit, of which one may be the key, without a word. */
function checkFieldCount({ raw }: FastifyRequest, most: number): void {
  if (raw.rawHeaders.length > 2 * most)
    throw new ApiError('headers_too_large', `the request has more than ${String(most)} header fields`);
}

function checkHost(request: FastifyRequest, loopbackOnly: boolean): void {
  const { headers, httpVersion } = request.raw;
  if (loopbackOnly && !isLoopbackHost(headers.host)) {
    throw new ApiError('host_not_allowed', 'without configured callers only loopback host names are answered');
  }
  if (headers.host === undefined && httpVersion === '1.1')
    throw new ApiError('invalid_request', 'the Host header is missing');
  if (headers.host !== undefined && !isValidHost(headers.host))
    throw new ApiError('invalid_request', 'the Host header is not valid');
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

interface Answer {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly payload: unknown;
}

function finish({ drain, limits }: HttpOptions, { request, reply, payload }: Answer): unknown {
  // A preflight is answered before any hook of ours.
  if (!reply.hasHeader('x-request-id')) reply.header('x-request-id', request.id).headers(securityHeaders(request));
  // What is answered to one caller is nobody else's, and not for a disk.
  if (!reply.hasHeader('cache-control')) reply.header('cache-control', 'no-store');
  if (isLastAnswer({ drain, limits }, request, reply)) reply.header('connection', 'close');
  const isClosing = reply.getHeader('connection') === 'close';
  if (!isClosing || request.raw.complete || !(typeof payload === 'string' || Buffer.isBuffer(payload))) return payload;
  reply.header('content-length', Buffer.byteLength(payload));
  return lingering(payload, request.raw);
}

function isLastAnswer(
  { drain, limits }: Pick<HttpOptions, 'drain' | 'limits'>,
  { openRequest, raw }: FastifyRequest,
  { statusCode }: FastifyReply,
): boolean {
  const isWornOut = openRequest !== undefined && openRequest.ordinal >= limits.requestsPerConnection;
  return isWornOut || drain.state !== 'serving' || statusCode === 413 || hasMuchToCome(raw);
}

/** An answer before the body is there: what is left of it may be more than anyone wants to read, or never come. */
function hasMuchToCome({ complete, headers }: FastifyRequest['raw']): boolean {
  if (complete) return false;
  if (headers['transfer-encoding'] !== undefined) return true;
  return Number(headers['content-length'] ?? 0) > MUCH_BYTES;
}
