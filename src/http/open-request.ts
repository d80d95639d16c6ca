import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { ClientGoneError } from './client-gone.error.js';

/** A request whose answer is not complete yet. */
export class OpenRequest {
  #abort: AbortController | undefined;
  #isOver = false;
  readonly #onOver = new Set<() => void>();

  /** Aborts when nobody waits for the answer any more, or when the drain's grace is over. Made on first use. */
  get signal(): AbortSignal {
    this.#abort ??= new AbortController();
    return this.#abort.signal;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** Tells the work to stop. No effect once the answer is complete. */
  abort(reason: Error): void {
    if (this.#isOver) return;
    this.#abort ??= new AbortController();
    this.#abort.abort(reason);
  }

  /** Calls back once, when the answer is complete or the connection closed; at once if that has happened. */
  onOver(listener: () => void): void {
    if (this.#isOver) listener();
    else this.#onOver.add(listener);
  }

  /** The last byte was handed to the socket, or the connection is gone. */
  end(outcome: 'complete' | 'client gone'): void {
    if (this.#isOver) return;
    if (outcome === 'client gone') this.abort(new ClientGoneError());
    this.#isOver = true;
    for (const listener of this.#onOver) listener();
    this.#onOver.clear();
  }
}

/** Knows which requests are open on which connection. One listener per connection, however many requests it carries. */
export class OpenConnections {
  readonly #bySocket = new WeakMap<Socket, Set<OpenRequest>>();

  open(request: IncomingMessage, response: ServerResponse): OpenRequest {
    const open = new OpenRequest();
    const siblings = this.#on(request.socket);
    siblings.add(open);
    open.onOver(() => siblings.delete(open));
    response.once('close', () => {
      open.end(response.writableFinished ? 'complete' : 'client gone');
    });
    if (request.socket.destroyed) open.end('client gone');
    return open;
  }

  // A pipelined request whose turn has not come has no socket of its own yet: its response never sees the connection close.
  #on(socket: Socket): Set<OpenRequest> {
    const known = this.#bySocket.get(socket);
    if (known !== undefined) return known;
    const requests = new Set<OpenRequest>();
    this.#bySocket.set(socket, requests);
    socket.once('close', () => {
      for (const request of [...requests]) request.end('client gone');
    });
    return requests;
  }
}
