import type { WindowUsage } from './admission.store.js';
import type { Spending } from './client/scope.line.js';

/** What stands behind a reservation. */
export interface ReservationHome {
  isInTime(): boolean;
  /** The call goes out now. */
  sent(): void;
  settle(spending: Spending): Promise<void>;
  cancel(): Promise<void>;
}

export interface ReservationFacts extends Spending {
  readonly kind: string;
  /** The name of the scope. */
  readonly scope: string;
  /** How long it was waited for, ms. */
  readonly queueMs: number;
  /** By this process's own share: the store is away. */
  readonly isLocal: boolean;
  /** What is used of each window, where it was let in at once; empty after a wait. */
  readonly usage: readonly WindowUsage[];
}

/**
 * Room for one call in one scope. It is kept until it ends, once: settled after the call, or cancelled before it. Whatever is
 * forgotten is booked as it was reserved, when its hold is over.
 */
export class Reservation implements ReservationFacts {
  readonly kind: string;
  readonly scope: string;
  readonly queueMs: number;
  readonly isLocal: boolean;
  readonly usage: readonly WindowUsage[];
  readonly tokens: number;
  readonly microUsd: number;
  #isSent = false;
  #isOver = false;

  constructor(
    private readonly home: ReservationHome,
    facts: ReservationFacts,
  ) {
    this.kind = facts.kind;
    this.scope = facts.scope;
    this.queueMs = facts.queueMs;
    this.isLocal = facts.isLocal;
    this.usage = facts.usage;
    this.tokens = facts.tokens;
    this.microUsd = facts.microUsd;
  }

  /** Neither settled nor cancelled. */
  get isOpen(): boolean {
    return !this.#isOver;
  }

  /**
   * Whether a call that goes out now still counts in the window that it was let in for. If not, it must not go out: cancel, and
   * reserve again with what is left of the wait.
   */
  mayStillSend(): boolean {
    return !this.#isOver && this.home.isInTime();
  }

  /** The call goes out; from now on the reservation can't be cancelled. */
  sent(): void {
    this.#isSent = true;
    this.home.sent();
  }

  /**
   * Books what the call took, once: what it took above the reservation in full; by default what was reserved. Never rejects. Resolves
   * when the store has heard, or was silent; then it is told again until it has, or the lease is over.
   */
  settle({ tokens = this.tokens, microUsd = this.microUsd }: Partial<Spending> = {}): Promise<void> {
    const spending = { tokens: amount(tokens, this.tokens), microUsd: amount(microUsd, this.microUsd) };
    return this.#end(() => this.home.settle(spending));
  }

  /** Undoes it, as if it had not been; where the call was sent, settles it as it was reserved. Never rejects. */
  cancel(): Promise<void> {
    return this.#isSent ? this.settle() : this.#end(() => this.home.cancel());
  }

  #end(tell: () => Promise<void>): Promise<void> {
    if (this.#isOver) return Promise.resolve();
    this.#isOver = true;
    return tell();
  }
}

/** What a provider says may be anything. */
function amount(told: number, reserved: number): number {
  const whole = Math.ceil(told);
  return Number.isSafeInteger(whole) && whole >= 0 ? whole : reserved;
}
