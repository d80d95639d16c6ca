import { GuardedState } from './guarded.state.js';
import type { Pod, Wish } from './pod.js';
import type { Watcher } from './watcher.js';
import type { World } from './world.js';

type Choice = readonly [number, ...number[]];

/** What the pods do with their locks: short and long holds, tries, limits, several keys, cancels, permits that do not agree. */
export class Workload {
  readonly keys: readonly [string, ...string[]];
  sections = 0;
  lastEnd = 0;
  /** What wishes for a key ask for; several where the pods have different versions of the code. */
  readonly #capacities: ReadonlyMap<string, Choice>;
  readonly #states: ReadonlyMap<string, GuardedState>;
  #wishes = 0;

  constructor(
    private readonly world: World,
    readonly watcher: Watcher,
  ) {
    const { random } = world;
    this.keys = random.pick([['a'], ['a'], ['a', 'b'], ['a', 'b', 'c']]);
    this.#capacities = new Map<string, Choice>([
      ['a', random.pick([[1], [1], [1], [3], [4], [2, 3, 4]])],
      ['b', random.pick([[1], [2], [8], [1, 4]])],
      ['c', [1]],
    ]);
    this.#states = new Map(this.keys.map((key) => [key, new GuardedState(world)]));
  }

  /** Which keys a section takes, in the order in which the product takes them. */
  choose(): readonly string[] {
    const { random, subject } = this.world;
    const key = random.pick(this.keys);
    if (!random.chance(0.25)) return [key];
    return subject.resolveLockKeys([key, random.pick(this.keys), random.pick(this.keys)]);
  }

  wish(pod: Pod, key: string): Wish {
    this.#wishes += 1;
    const { random } = this.world;
    const capacity = random.pick(this.#capacities.get(key) ?? [1]);
    const wish: Wish = {
      id: `w${this.#wishes}`,
      pod,
      key,
      weight: capacity > 1 && random.chance(0.3) ? capacity : 1,
      capacity,
      minHoldMs: random.chance(0.08) ? 300 : 0,
      maxHoldMs: random.chance(0.05) ? 2_500 : Infinity,
      acquisition: undefined,
      heldAt: undefined,
      overAt: undefined,
    };
    this.watcher.wishes.set(wish.id, wish);
    pod.wishes.add(wish);
    return wish;
  }

  held(wish: Wish): void {
    wish.heldAt = this.world.now;
    this.watcher.leases.begun(wish);
    this.watcher.holders.check(wish.key);
  }

  /** @param isReleased valid, and given back by its own section */
  over(wish: Wish, isReleased: boolean): void {
    wish.pod.wishes.delete(wish);
    wish.overAt = this.world.now;
    if (isReleased) this.watcher.holders.released(wish);
  }

  /** What the key guards; undefined for those who share it. */
  stateOf({ key, weight, capacity }: Wish): GuardedState | undefined {
    // A writer takes all of the largest capacity, so it is alone with any other.
    const all = Math.max(...(this.#capacities.get(key) ?? [1]));
    return weight === capacity && capacity === all ? this.#states.get(key) : undefined;
  }
}
