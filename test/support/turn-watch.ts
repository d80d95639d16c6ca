import { readFileSync } from 'node:fs';

const TICK_MS = 5;

/**
 * For how long a turn of this thread's event loop holds all others up, in time of the processor: what a shared machine takes is
 * nobody's delay. Where the system does not tell a thread's time, the clock's.
 */
export class TurnWatch {
  #longestMs = 0;
  #last = ownMs();
  readonly #timer = setInterval(() => {
    this.#look();
  }, TICK_MS);

  /** @returns the longest, ms */
  stop(): number {
    clearInterval(this.#timer);
    this.#look();
    return this.#longestMs;
  }

  #look(): void {
    const now = ownMs();
    this.#longestMs = Math.max(this.#longestMs, now - this.#last);
    this.#last = now;
  }
}

/** See proc_pid_schedstat(5): time spent on the processor, ns; the first thread has its process's number. */
function ownMs(): number {
  try {
    return Number(readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'utf8').split(' ')[0]) / 1e6;
  } catch {
    return performance.now();
  }
}
