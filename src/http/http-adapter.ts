import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { registerJsonBodies } from './body-parsing.js';
import { ClientErrors } from './client-error.js';
import { boundConnections, serverOptions } from './connection-limits.js';
import type { HttpOptions } from './http-options.js';
import { OpenConnections } from './open-connections.js';
import { PathFaults } from './path-faults.js';
import { requestIdOf } from './request-id.js';
import { securityHeaders } from './security-headers.js';
import { toApiError } from './to-api-error.js';

/**
 * The Fastify server under Nest: limits, request id, body parsing, and errors in OpenAI's shape even for what is not HTTP.
 * Create the application with `bodyParser: false`, then call `configureHttp(app, options)`.
 */
export function createHttpAdapter(options: HttpOptions): FastifyAdapter {
  const { limits, trustProxy } = options;
  const connections = new OpenConnections(limits);
  const clientErrors = new ClientErrors(connections);
  const pathFaults = new PathFaults();
  const adapter = new FastifyAdapter({
    http: serverOptions(limits),
    requestTimeout: limits.requestMs,
    keepAliveTimeout: limits.keepAliveMs,
    bodyLimit: options.bodyLimitBytes,
    trustProxy: typeof trustProxy === 'object' ? [...trustProxy] : trustProxy,
    routerOptions: { maxParamLength: limits.paramLength },
    // After the drain nothing is left that deserves to wait for.
    forceCloseConnections: true,
    return503OnClosing: false,
    genReqId: requestIdOf,
    frameworkErrors: (error: FastifyError, request: FastifyRequest, reply: FastifyReply) => {
      pathFaults.note(request.raw, toApiError(error));
      instance.routing(request.raw, reply.raw);
    },
    clientErrorHandler: (error, socket) => {
      clientErrors.answer(error, socket);
    },
  });
  const instance = adapter.getInstance();
  instance.server.on('connect', (_request: IncomingMessage, socket: Socket) => {
    clientErrors.refuseTunnel(socket);
  });
  boundConnections(instance.server, limits);
  answerExpectations(instance.server, options.bodyLimitBytes);
  openRequests(instance, connections, pathFaults);
  registerJsonBodies(instance, options);
  return adapter;
}

/** The first hook of all: those of others may refuse the request, or wait for its end. Whoever has sent many at once waits here. */
function openRequests(instance: FastifyInstance, connections: OpenConnections, pathFaults: PathFaults): void {
  instance.decorateRequest('openRequest', undefined);
  instance.decorateRequest('pathFault', undefined);
  instance.addHook('onRequest', (request, reply, done) => {
    reply.header('x-request-id', request.id).headers(securityHeaders(request));
    const open = connections.open(request.raw, reply.raw);
    request.openRequest = open;
    request.pathFault = pathFaults.of(request.raw);
    connections.onTurn(open, request.raw, done);
  });
}

/** `Expect: 100-continue` goes on unless the body is refused anyway; other expectations are ignored (RFC 9110 section 10.1.1). */
function answerExpectations(server: Server, bodyLimitBytes: number): void {
  server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
    if (!(Number(request.headers['content-length']) > bodyLimitBytes)) response.writeContinue();
    server.emit('request', request, response);
  });
  server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) => {
    server.emit('request', request, response);
  });
}
