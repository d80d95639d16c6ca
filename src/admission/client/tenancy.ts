import type { AdmissionObserver, ReservationEnd } from '../admission.observer.js';
import type { ReservationHome } from '../reservation.js';
import type { Spending } from './scope.line.js';
import type { Taken } from './taken.js';

export interface TenancyHooks {
  readonly observer: AdmissionObserver;
  now(): number;
  /** Called once, when it is over. */
  ended(): void;
}

/** A claim in the hands of a call. */
export class Tenancy implements ReservationHome {
  #isSent = false;
  #isOver = false;
  readonly #since: number;

  constructor(
    private readonly taken: Taken,
    private readonly hooks: TenancyHooks,
  ) {
    this.#since = hooks.now();
    taken.claim.onExpiry = () => {
      this.#end('expired');
    };
  }

  isInTime(): boolean {
    return this.taken.client.isInTime(this.taken.claim);
  }

  sent(): void {
    this.#isSent = true;
  }

  settle(spending: Spending): Promise<void> {
    this.#end('settled');
    return this.taken.client.settle(this.taken.claim, spending);
  }

  cancel(): Promise<void> {
    this.#end('cancelled');
    return this.taken.client.cancel(this.taken.claim);
  }

  /** Nobody will end it any more: what was sent is booked as it was reserved, the rest undone. */
  abandon(): void {
    const { client, claim } = this.taken;
    const isSent = this.#isSent;
    this.#end('abandoned');
    void (isSent ? client.settle(claim, claim.request) : client.cancel(claim));
  }

  #end(end: ReservationEnd): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const { hooks, taken } = this;
    hooks.observer.ended(taken.claim.request.kind, { end, holdMs: hooks.now() - this.#since });
    hooks.ended();
  }
}
