/** Stores tell whole milliseconds. */
const ROUNDING_MS = 1;

/**
 * The store's time as this process knows it. An answer was made between the sending of its command and its receipt: so every reading
 * bounds the difference of the two clocks, and the latest of those bounds that still hold is the best guess. Neither clock steps
 * without the next answer telling.
 */
export class StoreClock {
  /** At least: the store may be ahead by the time that an answer takes. */
  #aheadMs = -Infinity;

  /** @param now the local clock, ms */
  constructor(private readonly now: () => number) {}

  /**
   * @param storeMs what the store's clock showed before now
   * @param sentAt and after that, by the local clock; undefined: nobody knows when, as of a message
   */
  read(storeMs: number, sentAt = -Infinity): void {
    const least = storeMs - this.now();
    const most = storeMs - sentAt + ROUNDING_MS;
    this.#aheadMs = Math.min(Math.max(this.#aheadMs, least), most);
  }

  /** Until the store's clock shows that, ms; negative: since. */
  until(storeMs: number): number {
    return storeMs - this.#aheadMs - this.now();
  }
}
