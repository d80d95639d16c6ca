const TICK_MS = 20;

/** How long this process's event loop has stood still in all: what a shared machine takes is nobody's delay. */
export class StallClock {
  #stalledMs = 0;
  #last = performance.now();
  readonly #timer = setInterval(() => {
    const now = performance.now();
    this.#stalledMs += Math.max(0, now - this.#last - TICK_MS);
    this.#last = now;
  }, TICK_MS);

  /** Monotonic, ms. */
  get stalledMs(): number {
    return this.#stalledMs + Math.max(0, performance.now() - this.#last - TICK_MS);
  }

  stop(): void {
    clearInterval(this.#timer);
  }
}
