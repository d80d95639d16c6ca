/** How old a reading may be, ms: clocks that differ by 100 millionths are 3 ms apart by then. */
const GENERATION_MS = 30_000;

/**
 * The store's time as this process knows it. What an answer says was read before the answer came, so the latest of several readings
 * is the best; old ones are forgotten, since no two clocks run alike.
 */
export class StoreClock {
  #current = -Infinity;
  #previous = -Infinity;
  #since = -Infinity;

  /** @param now the local clock, ms */
  constructor(private readonly now: () => number) {}

  /** @param storeMs what the store's clock showed before now */
  read(storeMs: number): void {
    const now = this.now();
    if (now - this.#since >= GENERATION_MS) {
      this.#previous = now - this.#since >= 2 * GENERATION_MS ? -Infinity : this.#current;
      this.#current = -Infinity;
      this.#since = now;
    }
    this.#current = Math.max(this.#current, storeMs - now);
  }

  /** Until the store's clock shows that, ms; negative: since. */
  until(storeMs: number): number {
    return storeMs - Math.max(this.#current, this.#previous) - this.now();
  }
}
