/** So many go on in one turn of the event loop. */
const AT_ONCE = 4;

/**
 * A window may let in hundreds of calls at one moment, and sending them takes this process a while. They go out in the order in which
 * they came, a few in each turn of the event loop, so that between two turns connections open and bytes leave: whether a call is
 * still in time is then asked right before it goes onto the wire, not before all of them do.
 */
export class LoopTurns {
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  /** Resolves in a turn of its caller's own. */
  next(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      if (this.#running === AT_ONCE) return;
      this.#running += 1;
      setImmediate(this.#one);
    });
  }

  /** One in each turn, until nobody waits. */
  readonly #one = (): void => {
    this.#waiting.shift()?.();
    if (this.#waiting.length > 0) setImmediate(this.#one);
    else this.#running -= 1;
  };
}
