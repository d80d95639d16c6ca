import { writeSync } from 'node:fs';
import { type DestinationStream, pino } from 'pino';

/** How soon a pipe that was full is tried again, ms. */
const RETRY_MS = 50;
/** How long the end of the process waits for a reader that takes nothing, ms; what it has not taken by then is lost. */
const STALL_MS = 1_000;
/** How long it waits for a reader that is slow, ms. */
const SLOW_MS = 3_000;
/** What nobody reads is kept up to this many characters; later lines are lost. */
const MAX_WAITING = 16 * 1024 * 1024;

/** Standard output, written in the background and flushed when the process exits. */
export function standardOutput(): DestinationStream {
  // A terminal is written by a thread: while it is paused (Ctrl-S) it blocks whoever writes.
  if (process.stdout.isTTY) return pino.destination({ dest: 1, sync: false });
  // To look at process.stdout is what makes a pipe non-blocking.
  const output = new BackgroundWriter((bytes) => writeSync(process.stdout.fd, bytes));
  process.once('exit', () => {
    output.flush();
  });
  return output;
}

/**
 * Writes lines once per turn of the event loop, and what a full pipe does not take a little later. A pipe that nobody reads neither
 * fills the memory, nor stalls the requests, nor keeps the process from ending. No thread is asked to write: one that hangs in a
 * write would hold up even exit(), and what it was given could be neither flushed nor kept in order.
 */
export class BackgroundWriter implements DestinationStream {
  #lines = '';
  #rest: Buffer = Buffer.alloc(0);
  #isScheduled = false;

  /** @param put - writes some of the bytes and says how many; throws EAGAIN where there is no room, and must not block */
  constructor(private readonly put: (bytes: Buffer) => number) {}

  write(line: string): void {
    if (this.#lines.length + this.#rest.length > MAX_WAITING) return;
    this.#lines += line;
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(this.#writeAll);
  }

  /** Writes all there is, if somebody reads it; gives up on a reader that takes nothing for 1 s or needs more than 3 s. */
  flush(): void {
    const beganAt = performance.now();
    let movedAt = beganAt;
    let left = Infinity;
    while (!this.#writeSome()) {
      const now = performance.now();
      if (this.#rest.length < left) movedAt = now;
      left = this.#rest.length;
      if (now - movedAt > STALL_MS || now - beganAt > SLOW_MS) return;
      pause(RETRY_MS);
    }
  }

  readonly #writeAll = (): void => {
    if (this.#writeSome()) this.#isScheduled = false;
    else setTimeout(this.#writeAll, RETRY_MS).unref();
  };

  /** @returns whether nothing is left */
  #writeSome(): boolean {
    for (;;) {
      if (this.#rest.length === 0) {
        if (this.#lines === '') return true;
        this.#rest = Buffer.from(this.#lines);
        this.#lines = '';
      }
      try {
        this.#rest = this.#rest.subarray(this.put(this.#rest));
      } catch (error) {
        if (isFull(error)) return false;
        // The reader is gone or the disk is full: neither is a reason to stop serving, and there is nowhere to say so.
        this.#rest = Buffer.alloc(0);
      }
    }
  }
}

/** There is no event loop any more that could wait. */
function pause(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

function isFull(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EAGAIN';
}
