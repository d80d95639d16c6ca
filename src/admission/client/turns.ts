import type { ClientEnvironment } from '../../store/index.js';
import type { Claim } from './claim.js';
import { StoreClock } from './store.clock.js';

export interface TurnListener {
  begun(claim: Claim): void;
  /** Its hold is over, and it was not ended. */
  overdue(claim: Claim): void;
}

/** When the time of a granted claim comes, by the store's clock, and when its hold is over. */
export class Turns {
  readonly #clock: StoreClock;

  constructor(
    private readonly environment: ClientEnvironment,
    private readonly listener: TurnListener,
  ) {
    this.#clock = new StoreClock(() => environment.now());
  }

  /** See StoreClock.read(). */
  read(storeMs: number, sentAt?: number): void {
    this.#clock.read(storeMs, sentAt);
  }

  /** By the clock, not by the timer: some fire early. */
  await(claim: Claim): void {
    const untilMs = this.#clock.until(claim.atMs);
    if (untilMs <= 0) {
      this.#begin(claim);
      return;
    }
    claim.timer = this.environment.after(untilMs, () => {
      this.await(claim);
    });
  }

  /** How long ago its time came, ms. */
  ageMs(claim: Claim): number {
    return -this.#clock.until(claim.atMs);
  }

  #begin(claim: Claim): void {
    claim.isBegun = true;
    claim.timer = this.environment.after(claim.request.holdMs, () => {
      this.listener.overdue(claim);
    });
    this.listener.begun(claim);
    claim.grant();
  }
}
