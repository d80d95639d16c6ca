import { randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';
import { ApiError } from './api-error.js';
import { rawError } from './error-reply.js';
import { unknownVersion } from './framing.js';
import type { OpenConnections, OpenRequest } from './open-request.js';

/** Node's word for a request that has not arrived within its time. */
const TOO_SLOW = 'ERR_HTTP_REQUEST_TIMEOUT';

/** How long a client may take to read why its connection is being closed, ms. */
const GOODBYE_MS = 1_000;

/** What Node's parser says of a connection. */
interface ParserError extends Error {
  readonly code?: string;
  /** llhttp's words, where it is llhttp that speaks. */
  readonly reason?: string;
}

/**
 * Answers what never becomes a request (malformed HTTP, too large headers, a client that is too slow, CONNECT), then closes the
 * connection. Answers come in the order of their requests: whatever waits for its own is answered first.
 */
export class ClientErrors {
  readonly #waiting = new WeakSet<Socket>();

  constructor(private readonly connections: OpenConnections) {}

  /** What Node's parser says of a connection. */
  answer(error: ParserError, socket: Socket): void {
    if (error.code === TOO_SLOW && this.#isLeftUnread(socket)) return;
    const isGone = error.code === 'ECONNRESET' || error.code === 'EPIPE' || this.#leavesOthers(error.code, socket);
    if (isGone) socket.destroy();
    else this.#refuse(socket, clientError(error));
  }

  /** A connection that asks to become something else. Node has taken its own listeners off the socket. */
  refuseTunnel(socket: Socket): void {
    surviveReset(socket);
    socket.once('end', () => {
      socket.destroySoon();
    });
    // Unread, neither the client's leaving is noticed nor its input thrown away.
    socket.resume();
    this.#refuse(socket, new ApiError('method_not_allowed', 'CONNECT is not allowed here'));
  }

  /** The headers that do not come are those that nobody reads for now. */
  #isLeftUnread(socket: Socket): boolean {
    return this.connections.isStopped(socket) && this.connections.openOn(socket).at(-1)?.hasArrived === true;
  }

  /** A FIN in the middle of a request: whoever waits for an earlier answer has left too. */
  #leavesOthers(code: string | undefined, socket: Socket): boolean {
    return code === 'HPE_INVALID_EOF_STATE' && lastBefore(this.connections.openOn(socket)) !== undefined;
  }

  #refuse(socket: Socket, error: ApiError): void {
    if (!socket.writable) {
      socket.destroy();
      return;
    }
    const open = this.connections.openOn(socket);
    const awaited = lastBefore(open);
    if (awaited !== undefined) this.#refuseAfter(awaited, socket, error);
    // The fault is in the body of a request whose answer has begun: an error now would stand in the middle of it.
    else if (open[0]?.isAnswered === true) socket.destroySoon();
    else endWithError(socket, error);
  }

  #refuseAfter(awaited: OpenRequest, socket: Socket, error: ApiError): void {
    // Node tells of the same fault again with every byte that follows it.
    if (this.#waiting.has(socket)) return;
    this.#waiting.add(socket);
    awaited.onOver(() => {
      this.#refuse(socket, error);
    });
  }
}

/** The last request that the fault does not belong to: a request that is still arriving is the faulty one itself. */
function lastBefore(open: readonly OpenRequest[]): OpenRequest | undefined {
  return open.at(-1)?.hasArrived === false ? open.at(-2) : open.at(-1);
}

/** Says why and closes: the client gets a moment to read it before unread input resets the connection. */
function endWithError(socket: Socket, error: ApiError): void {
  socket.end(rawError(error, randomUUID()));
  const timer = setTimeout(() => socket.destroy(), GOODBYE_MS);
  socket.once('close', () => {
    clearTimeout(timer);
  });
}

/** An 'error' that nobody listens to ends the process; 'close' follows it, which is all that matters here. */
function surviveReset(socket: Socket): void {
  socket.on('error', () => undefined);
}

function clientError({ code, reason }: ParserError): ApiError {
  if (code === 'HPE_HEADER_OVERFLOW') return new ApiError('headers_too_large', 'the request headers are too large');
  if (code === TOO_SLOW) return new ApiError('request_timeout', 'the request took too long to arrive');
  // The same code stands for a line that does not end as it should.
  const isVersion = code === 'HPE_INVALID_VERSION' && reason !== 'Expected CRLF after version';
  if (isVersion || code === 'HPE_PAUSED_H2_UPGRADE') return unknownVersion();
  return new ApiError('invalid_request', 'the request is not valid HTTP/1.1');
}
