import type { Socket } from 'node:net';
import type { ConnectionLimits } from './connection-limits.js';
import type { OpenRequest } from './open-request.js';

interface Waiting {
  readonly request: OpenRequest;
  readonly begin: () => void;
}

/** Where the waiting requests of all connections are counted: each costs some kilobytes, and whoever sends it need not be known. */
export class WaitingRoom {
  #taken = 0;

  constructor(private readonly places: number) {}

  /** @returns whether there was a place left */
  take(): boolean {
    if (this.#taken >= this.places) return false;
    this.#taken += 1;
    return true;
  }

  giveBack(places: number): void {
    this.#taken -= places;
  }
}

/**
 * The order of one connection's requests. Node reads on while answers are due, and begins whatever it has read at once: here only so
 * many are begun, the others wait for their turn, and with too many of them waiting nothing more is read. Nothing is refused for it:
 * answers come in the order of their requests anyway, but where too many wait in all: then the connection ends. While nothing is
 * read, a client that leaves is not noticed.
 */
export class Pipeline {
  readonly #waiting: Waiting[] = [];
  #running = 0;
  #isStopped = false;

  constructor(
    private readonly socket: Socket,
    private readonly limits: Pick<ConnectionLimits, 'pipelined' | 'pipelineQueue'>,
    private readonly room: WaitingRoom,
  ) {}

  /** Whether what the client sends is left unread for now. */
  get isStopped(): boolean {
    return this.#isStopped;
  }

  /** @param begin - called now, or when enough of those before are over; never once the client has left */
  enter(request: OpenRequest, begin: () => void): void {
    if (this.#running < this.limits.pipelined && this.#waiting.length === 0) {
      this.#run({ request, begin });
      return;
    }
    if (request.isOver) return;
    if (!this.room.take()) {
      this.socket.destroy();
      return;
    }
    this.#waiting.push({ request, begin });
    if (this.#waiting.length > this.limits.pipelineQueue) this.#stop();
  }

  #run({ request, begin }: Waiting): void {
    this.#running += 1;
    request.onOver(() => {
      this.#running -= 1;
      // In a turn of its own: thousands of short answers in a row must not keep other connections waiting.
      if (this.#waiting.length > 0) setImmediate(this.#next);
    });
    begin();
  }

  readonly #next = (): void => {
    const next = this.#waiting.shift();
    if (next === undefined) return;
    // With its connection: so are all behind it.
    const left = next.request.isOver ? this.#waiting.splice(0) : [];
    this.room.giveBack(1 + left.length);
    if (this.#isStopped && this.#waiting.length <= this.limits.pipelineQueue) this.#goOn();
    if (!next.request.isOver) this.#run(next);
  };

  #stop(): void {
    if (!this.#isStopped) this.socket.on('resume', this.#hold);
    this.#isStopped = true;
    this.#hold();
  }

  /** Whoever reads a body, or is done with one, starts the socket again. */
  readonly #hold = (): void => {
    this.socket.pause();
    // A socket that was paused before it could resume reads all the same, and takes itself for paused: it is told again.
    this.socket.emit('pause');
  };

  #goOn(): void {
    this.#isStopped = false;
    this.socket.off('resume', this.#hold);
    this.socket.resume();
  }
}
