/** Where a fleet takes its time from. */
export interface FleetTime {
  /** Never steps back, ms. */
  readonly monotonic: () => number;
  /** Unix ms. */
  readonly wall: () => number;
}

export const SYSTEM_TIME: FleetTime = { monotonic: () => performance.now(), wall: Date.now };

/**
 * The store's clock as this process reckons it. It is taken from the last answer as if that had been given when it was asked for, so
 * it is ahead by the way there at most: nothing lasts longer here than in the store.
 */
export class FleetClock {
  #offset: number;

  constructor(private readonly time: FleetTime) {
    this.#offset = time.wall() - time.monotonic();
  }

  /** Whole ms of the store's clock. */
  get now(): number {
    return Math.floor(this.time.monotonic() + this.#offset);
  }

  /** Of this process, ms; never steps back. */
  get monotonic(): number {
    return this.time.monotonic();
  }

  /** @param asked - `monotonic` when the store was asked */
  answered(asked: number, storeNow: number): void {
    this.#offset = storeNow - asked;
  }

  /** Unix ms by our own clock. */
  get wall(): number {
    return this.time.wall();
  }
}
