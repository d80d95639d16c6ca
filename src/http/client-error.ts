import { randomUUID } from 'node:crypto';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { ApiError } from './api-error.js';
import { rawError } from './error-reply.js';

/** How long a client may take to read why its connection is being closed, ms. */
const GOODBYE_MS = 1_000;

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

/** Answers what never becomes a request: malformed HTTP, too large headers, a client that is too slow. Then closes. */
export class ClientErrors {
  readonly #latest = new WeakMap<Socket, Exchange>();

  /** Has to see every request before it is handled. */
  watch(server: Server): void {
    server.prependListener('request', (request, response) => {
      this.#latest.set(request.socket, { request, response });
    });
  }

  answer(error: Error & { readonly code?: string }, socket: Socket): void {
    if (error.code === 'ECONNRESET' || error.code === 'EPIPE' || !socket.writable) {
      socket.destroy();
      return;
    }
    if (!this.#mayAnswer(socket)) {
      socket.destroy();
      return;
    }
    endWithError(socket, clientError(error.code));
  }

  /** Not into the middle of an answer, and not where the bytes would be taken for the answer to an earlier request. */
  #mayAnswer(socket: Socket): boolean {
    const latest = this.#latest.get(socket);
    if (latest === undefined || latest.response.writableFinished) return true;
    return !latest.request.complete && !latest.response.headersSent;
  }
}

/** Says why and closes: the client gets a moment to read it before unread input resets the connection. */
export function endWithError(socket: Socket, error: ApiError): void {
  socket.end(rawError(error, randomUUID()));
  const timer = setTimeout(() => socket.destroy(), GOODBYE_MS);
  socket.once('close', () => {
    clearTimeout(timer);
  });
}

function clientError(code: string | undefined): ApiError {
  if (code === 'HPE_HEADER_OVERFLOW') return new ApiError('headers_too_large', 'the request headers are too large');
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT')
    return new ApiError('request_timeout', 'the request took too long to arrive');
  return new ApiError('invalid_request', 'the request is not valid HTTP/1.1');
}
