import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ExecutionContext } from '@nestjs/common';

/** The answer of a request, until its last byte is handed over or its client has gone. */
export class OpenAnswer {
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #gone = new AbortController();

  constructor(context: ExecutionContext) {
    const http = context.switchToHttp();
    this.#request = bare(http.getRequest<Bare<IncomingMessage>>());
    this.#response = bare(http.getResponse<Bare<ServerResponse>>());
    if (this.#request.socket.destroyed) this.#gone.abort();
    this.onEnd(() => {
      this.#gone.abort();
    });
  }

  /** Aborts when there is nobody to answer any more. */
  get signal(): AbortSignal {
    return this.#gone.signal;
  }

  /** Calls once, when the answer is complete or the connection closed; at once if that has happened. */
  onEnd(listener: () => void): void {
    const { socket } = this.#request;
    const end = (): void => {
      // A request that was pipelined may close without its answer ever having had the connection.
      socket.off('close', end);
      this.#response.off('close', end);
      listener();
    };
    if (this.#response.closed || socket.destroyed) {
      listener();
      return;
    }
    socket.on('close', end);
    this.#response.on('close', end);
  }
}

/** Fastify wraps what Express hands out as it is. */
type Bare<Message> = Message | { readonly raw: Message };

function bare<Message extends object>(message: Bare<Message>): Message {
  return 'raw' in message ? message.raw : message;
}
