import type { LockState } from '../../src/lock/lock.store.js';
import type { Pod } from './pod.js';
import { FAULTS_END, type World } from './world.js';

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

/** How long a dead waiter and a revoked holder may stand in the way, by what the store shows. */
export class TimeRules {
  readonly #lastLook = new Map<string, number>();
  /** By key: how much of the time so far passed without any command. */
  readonly #blindMs = new Map<string, number>();
  readonly #grantedAt = new Map<string, Seen>();
  readonly #revoked = new Map<string, Seen & { readonly endsAt: number }>();

  constructor(
    private readonly world: World,
    private readonly pods: ReadonlyMap<string, Pod>,
  ) {}

  look(key: string, state: LockState | undefined): void {
    const { now, weather } = this.world;
    const gap = now - (this.#lastLook.get(key) ?? now);
    this.#lastLook.set(key, now);
    this.#blindMs.set(key, this.#blind(key) + Math.max(0, gap - GAP_MS));
    if (weather !== 'network') return;
    for (const holder of state?.holders ?? []) {
      if (holder.state === 'granted') this.#lookAtUnconfirmed(key, holder);
      if (holder.state === 'revoked') this.#lookAtRevoked(key, holder);
    }
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

  /** What is revoked is not renewed. */
  #lookAtRevoked(key: string, { token, fence, leaseLeftMs }: Holder): void {
    const name = `${token}/${fence}`;
    const { now } = this.world;
    const known = this.#revoked.get(name);
    const seen = known ?? { ...this.#seen(undefined, key), endsAt: now + leaseLeftMs };
    this.#revoked.set(name, seen);
    const forgivenMs = this.#blind(key) - seen.blindMs;
    if (now + leaseLeftMs > seen.endsAt + forgivenMs + NOISE_MS && now < FAULTS_END) {
      this.world.violate('revoked and renewed', token);
    }
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
