import type { LockState } from '../../src/lock/lock.store.js';
import type { Pod, Wish } from './pod.js';
import type { World } from './world.js';

type Grant = Pick<LockState['holders'][number], 'token' | 'fence'>;

/** Who may have a lock at the same time, by what the holders themselves believe. */
export class HolderRules {
  /** Before or after which loss of data a grant was seen. */
  readonly #epochs = new Map<string, number>();
  /** What an operator passed on at once, beside its holder. */
  readonly #taken = new Set<string>();
  /** Released, and to stay taken for a while. */
  readonly #kept = new Set<Wish>();
  readonly #lastFence = new Map<string, number>();

  constructor(
    private readonly world: World,
    private readonly pods: ReadonlyMap<string, Pod>,
  ) {}

  isNew(grant: Grant): boolean {
    return !this.#epochs.has(nameOf(grant));
  }

  /** In the order of the fences. */
  granted(key: string, grant: Grant): void {
    this.#epochs.set(nameOf(grant), this.world.epoch);
    const last = this.#lastFence.get(key) ?? 0;
    if (grant.fence <= last) this.world.violate('fence', `${key}: ${grant.fence} after ${last}`);
    this.#lastFence.set(key, grant.fence);
    this.world.hit('grant');
  }

  takenAway(grants: readonly Grant[]): void {
    for (const grant of grants) this.#taken.add(nameOf(grant));
  }

  /** Valid when it was released. */
  released(wish: Wish): void {
    if (wish.minHoldMs > 0) this.#kept.add(wish);
  }

  isValid(wish: Wish): boolean {
    const { acquisition, pod } = wish;
    if (acquisition === undefined || pod.isDead || !pod.client.isValid(acquisition)) return false;
    return this.#isJudged(wish);
  }

  /** Never more weight among valid holders than the smallest capacity that any of them asked for. */
  check(key: string): void {
    const wishes = [...this.#validOf(key), ...this.#keptOf(key)];
    const capacity = Math.min(...wishes.map((wish) => wish.capacity));
    const weight = wishes.reduce((sum, wish) => sum + Math.min(wish.weight, capacity), 0);
    if (weight <= capacity) return;
    const holders = wishes.map(({ id, acquisition }) => `${id} until ${acquisition?.deadline.toFixed(1) ?? '?'}`);
    this.world.violate('exclusion', `${key}: ${holders.join(', ')}`);
  }

  *#validOf(key: string): Generator<Wish> {
    for (const pod of this.pods.values()) {
      for (const wish of pod.wishes) if (wish.key === key && this.isValid(wish)) yield wish;
    }
  }

  *#keptOf(key: string): Generator<Wish> {
    for (const wish of this.#kept) {
      const { pod, acquisition, minHoldMs } = wish;
      // A release that is late finds the lease as it was.
      const until = Math.min(acquisition?.deadline ?? 0, (acquisition?.heldSince ?? 0) + minHoldMs);
      if (pod.environment.now() >= until) this.#kept.delete(wish);
      else if (wish.key === key && this.#isJudged(wish)) yield wish;
    }
  }

  /**
   * A store that lost data can't keep those apart who were granted before and after, nor can one that was told to pass a lock on at
   * once; their fences do.
   */
  #isJudged({ acquisition }: Wish): boolean {
    if (acquisition === undefined) return false;
    const name = nameOf(acquisition);
    return this.#epochs.get(name) === this.world.epoch && !this.#taken.has(name);
  }
}

function nameOf({ token, fence }: Grant): string {
  return `${token}/${fence}`;
}
