import type { Socket } from 'node:net';
import type { ConnectionLimits } from './http-options.js';

/** Who takes less than this, or less than lies ready for him, in the whole of `stalledMs` takes nothing worth waiting for, bytes. */
const LEAST_TAKEN_BYTES = 65_536;

/** Since when a client has owed to take how much. */
interface Owing {
  readonly since: number;
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

  constructor(
    private readonly limits: Pick<ConnectionLimits, 'stalledMs' | 'checkEveryMs'>,
    private readonly now: () => number = () => performance.now(),
  ) {}

  /** Looks after a connection to its end. */
  watch(socket: Socket): void {
    if (socket.destroyed) return;
    this.#owing.set(socket, undefined);
    socket.once('close', () => {
      this.#owing.delete(socket);
      if (this.#owing.size > 0) return;
      clearInterval(this.#timer);
      this.#timer = undefined;
    });
    const { checkEveryMs, stalledMs } = this.limits;
    this.#timer ??= setInterval(
      () => {
        this.#look();
      },
      Math.min(checkEveryMs, stalledMs),
    ).unref();
  }

  #look(): void {
    const now = this.now();
    for (const [socket, owing] of this.#owing) {
      const ready = socket.writableLength;
      if (ready === 0) this.#owing.set(socket, undefined);
      else if (owing === undefined || takenOf(socket) >= owing.until) {
        this.#owing.set(socket, { since: now, until: takenOf(socket) + Math.min(ready, LEAST_TAKEN_BYTES) });
      } else if (now - owing.since >= this.limits.stalledMs) {
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
