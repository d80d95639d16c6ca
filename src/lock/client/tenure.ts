import type { Acquisition, LossReason } from './acquisition.js';
import type { ClientEnvironment } from './client.ports.js';

/** Watches over held leases: each ends at its deadline by the clock, whatever else happens. */
export class Tenure {
  constructor(
    private readonly environment: ClientEnvironment,
    private readonly expire: (acquisition: Acquisition, reason: LossReason) => void,
  ) {}

  /** @param isFull whether the store has given the full lease, not the short one of a grant nobody has confirmed */
  begin(acquisition: Acquisition, deadline: number, isFull: boolean): void {
    const now = this.environment.now();
    acquisition.state = 'held';
    acquisition.heldSince = now;
    acquisition.holdEnd = now + acquisition.request.maxHoldMs;
    acquisition.deadline = Math.min(deadline, acquisition.holdEnd);
    // A section that ends within a third of its short lease never renews.
    const renewAt = now + (isFull ? acquisition.leaseMs : Math.max(0, deadline - now)) / 3;
    acquisition.renewAt = deadline >= acquisition.holdEnd ? Infinity : renewAt;
    this.#watch(acquisition);
  }

  /** Moves the deadline later, never earlier, and never beyond the longest hold. */
  prolong(acquisition: Acquisition, deadline: number): void {
    if (deadline >= acquisition.holdEnd) acquisition.renewAt = Infinity;
    const capped = Math.min(deadline, acquisition.holdEnd);
    if (capped <= acquisition.deadline) return;
    acquisition.deadline = capped;
    this.#watch(acquisition);
  }

  /** By the clock, not by the timer: a process that was blocked finds out when it asks. */
  isValid(acquisition: Acquisition): boolean {
    return acquisition.state === 'held' && this.environment.now() < acquisition.deadline;
  }

  remainingMs(acquisition: Acquisition): number {
    return acquisition.state === 'held' ? Math.max(0, acquisition.deadline - this.environment.now()) : 0;
  }

  #watch(acquisition: Acquisition): void {
    acquisition.deadlineTimer?.cancel();
    acquisition.deadlineTimer = this.environment.after(acquisition.deadline - this.environment.now(), () => {
      if (this.isValid(acquisition)) this.#watch(acquisition);
      else this.expire(acquisition, acquisition.deadline >= acquisition.holdEnd ? 'max_hold' : 'expired');
    });
  }
}
