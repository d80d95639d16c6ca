import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { ConnectionLimits } from './connection-limits.js';
import { OpenRequest } from './open-request.js';
import { Pipeline, WaitingRoom } from './pipeline.js';
import { UnreadAnswers } from './unread-answers.js';

interface Connection {
  readonly open: Set<OpenRequest>;
  readonly pipeline: Pipeline;
  /** How many requests have come on it. */
  count: number;
}

/**
 * Knows which requests are open on which connection. One listener per connection, however many requests it carries.
 *
 * A client that shuts only its writing side (`shutdown(SHUT_WR)`) counts as gone, as it does for Node itself: the FIN of one that
 * leaves looks the same, and its work has to stop within a second, not when the first byte of an answer is refused.
 */
export class OpenConnections {
  readonly #bySocket = new WeakMap<Socket, Connection>();
  readonly #room: WaitingRoom;
  readonly #unread: UnreadAnswers;

  constructor(private readonly limits: ConnectionLimits) {
    this.#room = new WaitingRoom(limits.waiting);
    this.#unread = new UnreadAnswers(limits);
  }

  open(request: IncomingMessage, response: ServerResponse): OpenRequest {
    const connection = this.#on(request.socket);
    connection.count += 1;
    const open = new OpenRequest(request, response, connection.count);
    connection.open.add(open);
    // 'close' comes once.
    response.on('close', () => {
      connection.open.delete(open);
      open.end(response.writableFinished ? 'complete' : 'client gone');
    });
    if (request.socket.destroyed) open.end('client gone');
    return open;
  }

  /** Calls back when it is the request's turn to be worked on, which is now unless its client has sent many at once. */
  onTurn(request: OpenRequest, { socket }: IncomingMessage, begin: () => void): void {
    this.#on(socket).pipeline.enter(request, begin);
  }

  /** Whether what the client sends is left unread for now. */
  isStopped(socket: Socket): boolean {
    return this.#bySocket.get(socket)?.pipeline.isStopped === true;
  }

  /** The open requests of a connection in the order in which they came, which is that of their answers. */
  openOn(socket: Socket): readonly OpenRequest[] {
    return [...(this.#bySocket.get(socket)?.open ?? [])];
  }

  // A pipelined request whose turn has not come has no socket of its own yet: its response never sees the connection close.
  #on(socket: Socket): Connection {
    const known = this.#bySocket.get(socket);
    if (known !== undefined) return known;
    const pipeline = new Pipeline(socket, this.limits, this.#room);
    const connection: Connection = { open: new Set(), pipeline, count: 0 };
    this.#bySocket.set(socket, connection);
    this.#unread.watch(socket);
    socket.once('close', () => {
      const left = [...connection.open];
      connection.open.clear();
      for (const request of left) request.end('client gone');
    });
    return connection;
  }
}
