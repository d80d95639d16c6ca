import type { Reservation } from '../../admission/index.js';
import type { CallEstimate } from './call.estimate.js';

/** What a call, or one attempt of it, took in the end. */
export interface Taken {
  readonly tokens: number;
  readonly microUsd: number;
}

/** Room for one attempt at one deployment: in its caller's budget, its model's limits and its own. It ends once. */
export class AttemptQuota {
  constructor(
    readonly estimate: CallEstimate,
    private readonly reservations: readonly Reservation[],
  ) {}

  /** Whether a call that goes out now is in the windows that it was let in for. */
  get isInTime(): boolean {
    return this.reservations.every((reservation) => reservation.mayStillSend());
  }

  /** How long it was waited for, ms. */
  get queueMs(): number {
    return this.reservations.reduce((sum, { queueMs }) => sum + queueMs, 0);
  }

  /** The attempt goes out now. */
  sent(): void {
    for (const reservation of this.reservations) reservation.sent();
  }

  /** Undefined: what was reserved, as nobody knows better. What was taken last ends first. Never rejects. */
  async settle(taken?: Taken): Promise<void> {
    await Promise.all(this.reservations.toReversed().map((reservation) => reservation.settle(taken)));
  }

  /** It is not going to be sent. Never rejects. */
  async cancel(): Promise<void> {
    await Promise.all(this.reservations.toReversed().map((reservation) => reservation.cancel()));
  }
}
