import { Socket } from 'node:net';
import type { ConnectionLimits } from './connection-limits.js';

/** Who takes less than this, or less than lies ready for him, in the whole of `stalledMs` takes nothing worth waiting for, bytes. */
const LEAST_TAKEN_BYTES = 65_536;

/** What a client has to take, and how often it is still looked at meanwhile. */
interface Owing {
  readonly looksLeft: number;
  /** What it has taken when it has done so, bytes from the connection's beginning. */
  readonly until: number;
}

/**
 * Cuts off who leaves answers lying. The socket's own clock would not do: each write, and each byte that a client sends, sets it back,
 * and so does any byte that is taken. Looked at by a timer that is there as long as there are connections.
 */
export class UnreadAnswers {
  readonly #owing = new Map<Socket, Owing | undefined>();
  #timer: NodeJS.Timeout | undefined;
  readonly #everyMs: number;
  /** Counted in looks, not by a clock: a process that was frozen has taken that time from its clients. */
  readonly #looks: number;

  constructor({ stalledMs, checkEveryMs }: Pick<ConnectionLimits, 'stalledMs' | 'checkEveryMs'>) {
    this.#everyMs = Math.min(checkEveryMs, stalledMs);
    this.#looks = Math.ceil(stalledMs / this.#everyMs);
  }

  /** Looks after a connection to its end. */
  watch(socket: Socket): void {
    // A request that was injected has a socket of other make.
    if (socket.destroyed || !(socket instanceof Socket)) return;
    this.#owing.set(socket, undefined);
    socket.once('close', () => {
      this.#owing.delete(socket);
      if (this.#owing.size > 0) return;
      clearInterval(this.#timer);
      this.#timer = undefined;
    });
    this.#timer ??= setInterval(() => {
      this.#look();
    }, this.#everyMs).unref();
  }

  #look(): void {
    for (const [socket, owing] of this.#owing) {
      const ready = socket.writableLength;
      if (ready === 0) this.#owing.set(socket, undefined);
      else if (owing === undefined || takenOf(socket) >= owing.until) {
        this.#owing.set(socket, {
          looksLeft: this.#looks,
          until: takenOf(socket) + Math.min(ready, LEAST_TAKEN_BYTES),
        });
      } else if (owing.looksLeft > 1) this.#owing.set(socket, { ...owing, looksLeft: owing.looksLeft - 1 });
      else {
        // Only a reset makes the system let go of what it holds for the client, megabytes of it: an end would wait behind them.
        socket.resetAndDestroy();
      }
    }
  }
}

/**
 * What the system has taken over for the client, bytes. The public counters move when a write is over, and an answer of megabytes may be
 * one write; where the handle does not tell, they have to do.
 */
function takenOf(socket: Socket): number {
  const handle: unknown = Reflect.get(socket, '_handle');
  const [written, queued] = [numberIn(handle, 'bytesWritten'), numberIn(handle, 'writeQueueSize')];
  return written === undefined || queued === undefined ? socket.bytesWritten - socket.writableLength : written - queued;
}

function numberIn(value: unknown, name: string): number | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const found: unknown = Reflect.get(value, name);
  return typeof found === 'number' ? found : undefined;
}
