import type { BeatCommand } from '../../src/lock/lock.store.js';
import type { Pod, Wish } from './pod.js';
import { FAULTS_END, type World } from './world.js';

/** Whatever was on its way when the faults ended has come, and whoever stalled goes on. */
const PEACE_AT = FAULTS_END + 7_000;

/** What must be true of a lease as its own process sees it. */
export class LeaseRules {
  readonly #deadlines = new Map<string, number>();
  readonly #renewedFor = new Map<string, number>();

  constructor(private readonly world: World) {}

  /** It has just been handed to its work. */
  begun({ id, pod, acquisition }: Wish): void {
    if (acquisition === undefined) return;
    if (!pod.client.isValid(acquisition)) this.world.violate('begun too late', `${id} is over before it begins`);
    this.#renewedFor.set(acquisition.token, acquisition.request.leaseMs);
  }

  look(pod: Pod): void {
    for (const wish of pod.wishes) {
      const { acquisition, id, maxHoldMs } = wish;
      if (acquisition?.state !== 'held') continue;
      const { deadline, heldSince, token } = acquisition;
      if (deadline < (this.#deadlines.get(token) ?? 0)) this.world.violate('deadline', `of ${id} went back`);
      if (deadline > heldSince + maxHoldMs) this.world.violate('deadline', `of ${id} is after its longest hold`);
      this.#deadlines.set(token, deadline);
      if (this.#isTold(pod) && pod.environment.now() > deadline + 5) this.world.violate('told late', id);
    }
  }

  /** @param sentAt by the pod's clock */
  extended({ acquisition, id }: Wish, sentAt: number, milliseconds: number): void {
    if (acquisition?.state !== 'held') return;
    const promised = Math.min(acquisition.holdEnd, sentAt + milliseconds * 0.99 - 2.01);
    if (acquisition.deadline < promised) this.world.violate('extension', `${id} ends before it was promised`);
    this.#renewedFor.set(acquisition.token, Math.max(milliseconds, this.#renewedFor.get(acquisition.token) ?? 0));
  }

  /** What was asked for first, and what an extension promised, count for all renewals that are sent later. */
  renewalSent({ renewals }: BeatCommand): void {
    for (const { token, leaseMs } of renewals) {
      const promised = this.#renewedFor.get(token) ?? 0;
      if (leaseMs < promised) this.world.violate('extension', `${token} is renewed for ${leaseMs} of ${promised} ms`);
    }
  }

  /** Where nothing goes wrong, nobody loses a lease but by an operator or by its own limit. */
  lost({ id, heldAt = 0 }: Wish, reason: string): void {
    if (heldAt > PEACE_AT && (reason === 'expired' || reason === 'gone')) {
      this.world.violate('lost in peace', `${id}: ${reason}`);
    }
  }

  /** Whether its clock and its timers run evenly. */
  #isTold(pod: Pod): boolean {
    return this.world.now >= pod.unsteadyUntil && pod.pausedUntil <= this.world.now - 20;
  }
}
