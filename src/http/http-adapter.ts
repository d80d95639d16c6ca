import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { ApiError } from './api-error.js';
import { registerJsonBodies } from './body-parsing.js';
import { ClientErrors, endWithError } from './client-error.js';
import { sendError } from './error-reply.js';
import type { HttpOptions } from './http-options.js';
import { requestIdOf } from './request-id.js';
import { toApiError } from './to-api-error.js';

/**
 * The Fastify server under Nest: limits, request id, body parsing, and errors in OpenAI's shape even for what is not HTTP.
 * Create the application with `bodyParser: false`, then call `configureHttp(app, options)`.
 */
export function createHttpAdapter(options: HttpOptions): FastifyAdapter {
  const { limits, trustProxy } = options;
  const clientErrors = new ClientErrors();
  const adapter = new FastifyAdapter({
    http: {
      maxHeaderSize: limits.headerBytes,
      headersTimeout: limits.headersMs,
      connectionsCheckingInterval: limits.checkEveryMs,
      // Ours answers in the error shape.
      requireHostHeader: false,
    },
    requestTimeout: limits.requestMs,
    keepAliveTimeout: limits.keepAliveMs,
    connectionTimeout: 0,
    bodyLimit: options.bodyLimitBytes,
    trustProxy: typeof trustProxy === 'object' ? [...trustProxy] : trustProxy,
    routerOptions: { maxParamLength: limits.paramLength },
    // After the drain nothing is left that deserves to wait for.
    forceCloseConnections: true,
    return503OnClosing: false,
    genReqId: requestIdOf,
    frameworkErrors: (error: FastifyError, request: FastifyRequest, reply: FastifyReply) => {
      sendError(reply, toApiError(error, { requestId: request.id }));
    },
    clientErrorHandler: (error, socket) => {
      clientErrors.answer(error, socket);
    },
  });
  const instance = adapter.getInstance();
  clientErrors.watch(instance.server);
  answerExpectations(instance.server, options.bodyLimitBytes);
  refuseTunnels(instance.server);
  registerJsonBodies(instance, options.bodyLimitBytes);
  return adapter;
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

function refuseTunnels(server: Server): void {
  server.on('connect', (_request: IncomingMessage, socket: Socket) => {
    endWithError(socket, new ApiError('method_not_allowed', 'CONNECT is not allowed here'));
  });
}
