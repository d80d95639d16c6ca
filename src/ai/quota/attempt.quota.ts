import type { Reservation } from '../../admission/index.js';
import type { CallEstimate } from './call.estimate.js';

/** What a call, or one attempt of it, took in the end. */
export interface Taken {
  readonly tokens: number;
  readonly microUsd: number;
}

export interface Settlement {
  /** Undefined: what was reserved, as nobody knows better. */
  readonly taken: Taken | undefined;
  /** False: nothing is billed for it, but the provider may have counted it against its limits: there it stays as reserved. */
  readonly isCounted: boolean;
}

/** Room for one attempt at one deployment: in its caller's budget, its model's limits and its own. It ends once. */
export class AttemptQuota {
  #isSent = false;

  constructor(
    readonly estimate: CallEstimate,
    private readonly reservations: readonly Reservation[],
  ) {}

  /** There are limits that it was let in by. */
  get isLimited(): boolean {
    return this.reservations.length > 0;
  }

  /** Whether a call that goes out now is in the windows that it was let in for. */
  get isInTime(): boolean {
    return this.reservations.every((reservation) => reservation.mayStillSend());
  }

  /** How long it was waited for, ms. */
  get queueMs(): number {
    return this.reservations.reduce((sum, { queueMs }) => sum + queueMs, 0);
  }

  /** Limits were asked, and it has not gone onto the wire. */
  get isUnsent(): boolean {
    return this.isLimited && !this.#isSent;
  }

  /** The attempt goes out now. */
  sent(): void {
    this.#isSent = true;
    for (const reservation of this.reservations) reservation.sent();
  }

  /** Tokens and micro-dollars that are reserved in a budget; undefined: its caller has none. */
  get budgeted(): Taken | undefined {
    return this.reservations.find(({ kind }) => kind === 'budget');
  }

  /** What was taken last ends first. Never rejects. */
  async settle({ taken, isCounted }: Settlement): Promise<void> {
    await Promise.all(
      this.reservations
        .toReversed()
        .map((reservation) => reservation.settle(isCounted || reservation.kind === 'budget' ? taken : undefined)),
    );
  }

  /** It is not going to be sent. Never rejects. */
  async cancel(): Promise<void> {
    await Promise.all(this.reservations.toReversed().map((reservation) => reservation.cancel()));
  }
}
