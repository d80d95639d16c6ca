/** A wall clock that falls behind by more than this was set back; less is the noise of reading two clocks one after the other. */
const NOISE_MS = 100;

/**
 * Milliseconds that never fall. Node's monotonic clock stands still while a virtual machine is suspended, the wall clock does not:
 * whatever the wall clock runs ahead counts as elapsed. A wall clock that is set forward makes leases end early, which is safe;
 * one that is set back changes nothing.
 */
export class SuspendAwareClock {
  #ahead: number;
  #suspendedMs = 0;

  constructor(
    private readonly monotonic: () => number = () => performance.now(),
    private readonly wall: () => number = () => Date.now(),
  ) {
    this.#ahead = this.wall() - this.monotonic();
  }

  now(): number {
    const monotonic = this.monotonic();
    const ahead = this.wall() - monotonic;
    if (ahead > this.#ahead) {
      this.#suspendedMs += ahead - this.#ahead;
      this.#ahead = ahead;
    } else if (ahead < this.#ahead - NOISE_MS) this.#ahead = ahead;
    return monotonic + this.#suspendedMs;
  }
}
