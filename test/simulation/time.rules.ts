import type { LockState } from '../../src/lock/lock.store.js';
import type { Pod, Wish } from './pod.js';
import type { World } from './world.js';

type Holder = LockState['holders'][number];

/** The lease of a grant that nobody has confirmed, and what clocks may differ over it, ms. */
const GRANT_MS = 2_000;
const NOISE_MS = 50;
/** A time without commands that is longer counts less, or not at all, while somebody waits. */
const GAP_MS = 690;

interface Seen {
  readonly at: number;
  readonly blindMs: number;
}

/** What the store shows of leases: how long the dead and the revoked stand in the way, and that none ends there before it ends here. */
export class TimeRules {
  readonly #lastLook = new Map<string, { readonly at: number; readonly steps: number }>();
  /** By key: how much of the time so far passed without any command. */
  readonly #blindMs = new Map<string, number>();
  readonly #grantedAt = new Map<string, Seen>();
  readonly #revoked = new Map<string, Seen & { readonly endsAt: number }>();

  constructor(
    private readonly world: World,
    private readonly pods: ReadonlyMap<string, Pod>,
    private readonly wishes: ReadonlyMap<string, Wish>,
  ) {}

  /** @returns how long ago the command before was, ms */
  look(key: string, state: LockState | undefined): number {
    const { now, keepsData, storeClockSteps: steps } = this.world;
    const last = this.#lastLook.get(key) ?? { at: now, steps };
    this.#lastLook.set(key, { at: now, steps });
    const gap = now - last.at;
    // A clock that was set back shows nothing of the time since the command before.
    this.#blindMs.set(key, this.#blind(key) + (steps > last.steps ? gap : Math.max(0, gap - GAP_MS)));
    for (const holder of keepsData ? (state?.holders ?? []) : []) {
      if (holder.state === 'granted') this.#lookAtUnconfirmed(key, holder);
      this.#lookAtRevoked(key, holder);
      this.#lookAtEnd(holder);
    }
    return gap;
  }

  /** Every lease ends at its holder before it ends at the store, whatever becomes of messages and pods. */
  #lookAtEnd({ token, leaseLeftMs, description }: Holder): void {
    const wish = this.wishes.get(description);
    if (wish?.acquisition?.token !== token || wish.pod.isDead) return;
    const hereMs = wish.pod.client.remainingMs(wish.acquisition);
    if (hereMs > leaseLeftMs + 1) this.world.violate('ends there before it ends here', `${token}: ${hereMs} ms here`);
  }

  /** A waiter that was let in and is dead costs the next one so long and no longer. */
  #lookAtUnconfirmed(key: string, { token, fence, process }: Holder): void {
    const name = `${token}/${fence}`;
    const seen = this.#seen(this.#grantedAt.get(name), key);
    this.#grantedAt.set(name, seen);
    if (this.pods.get(process)?.isDead === true && this.#lived(seen, key) > GRANT_MS + NOISE_MS) {
      this.world.violate('cost of a dead waiter', `${token} has had ${key} since ${seen.at.toFixed(0)}`);
    }
  }

  /** What is revoked is neither renewed nor taken up again. */
  #lookAtRevoked(key: string, { token, fence, state, leaseLeftMs }: Holder): void {
    const name = `${token}/${fence}`;
    const { now } = this.world;
    const known = this.#revoked.get(name);
    if (known !== undefined && state === 'held') this.world.violate('revoked and held', token);
    if (state !== 'revoked') return;
    const seen = known ?? { ...this.#seen(undefined, key), endsAt: now + leaseLeftMs };
    this.#revoked.set(name, seen);
    const forgivenMs = this.#blind(key) - seen.blindMs;
    if (now + leaseLeftMs > seen.endsAt + forgivenMs + NOISE_MS) this.world.violate('revoked and renewed', token);
  }

  #seen(known: Seen | undefined, key: string): Seen {
    return known ?? { at: this.world.now, blindMs: this.#blind(key) };
  }

  #lived({ at, blindMs }: Seen, key: string): number {
    return this.world.now - at - (this.#blind(key) - blindMs);
  }

  #blind(key: string): number {
    return this.#blindMs.get(key) ?? 0;
  }
}
