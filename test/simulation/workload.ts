import type { Watcher } from './watcher.js';
import type { Pod, Wish } from './pod.js';
import { FAULTS_END, type World } from './world.js';

/** No new section begins after that, ms. */
const WORK_END = FAULTS_END + 10_000;

/** What the pods do with their locks: short and long holds, tries, limits, several keys, cancels. */
export class Workload {
  readonly keys: readonly [string, ...string[]];
  sections = 0;
  lastEnd = 0;
  readonly #capacities: ReadonlyMap<string, number>;
  #wishes = 0;

  constructor(
    private readonly world: World,
    private readonly watcher: Watcher,
  ) {
    const { random } = world;
    this.keys = random.chance(0.5) ? ['a'] : ['a', 'b'];
    this.#capacities = new Map([
      ['a', random.pick([1, 1, 1, 3, 4])],
      ['b', random.pick([1, 2, 8])],
    ]);
  }

  /** One more task of a pod, for as long as there is work. */
  start(pod: Pod, at: number): void {
    this.world.at(
      at,
      () => {
        if (this.world.now < WORK_END) new Section(this, pod, this.world).begin();
      },
      pod.name,
    );
  }

  /** Which keys a section takes: sorted, as the service does. */
  choose(): readonly string[] {
    const { random } = this.world;
    if (this.keys.length > 1 && random.chance(0.2)) return this.keys;
    return [random.pick(this.keys)];
  }

  wish(pod: Pod, key: string): Wish {
    this.#wishes += 1;
    const capacity = this.#capacities.get(key) ?? 1;
    const weight = capacity > 1 && this.world.random.chance(0.3) ? capacity : 1;
    const wish: Wish = {
      id: `w${this.#wishes}`,
      pod,
      key,
      weight,
      capacity,
      acquisition: undefined,
      overAt: undefined,
    };
    this.watcher.wishes.set(wish.id, wish);
    pod.wishes.add(wish);
    return wish;
  }

  over(wish: Wish): void {
    wish.pod.wishes.delete(wish);
    wish.overAt = this.world.now;
  }

  held(wish: Wish): void {
    this.watcher.checkHolders(wish.key);
  }
}

/** One critical section: its keys one after the other, some time, and the way out. */
class Section {
  readonly #held: Wish[] = [];
  readonly #keys: readonly string[];
  readonly #isTry: boolean;
  #current: Wish | undefined;
  #isOver = false;

  constructor(
    private readonly workload: Workload,
    private readonly pod: Pod,
    private readonly world: World,
  ) {
    this.#keys = workload.choose();
    this.#isTry = this.#keys.length === 1 && world.random.chance(0.08);
  }

  begin(): void {
    const { random } = this.world;
    this.workload.sections += 1;
    if (random.chance(0.35)) {
      this.pod.environment.after(random.next() * 4_000, () => {
        if (this.#current !== undefined) this.#end('timeout');
      });
    }
    this.#next();
  }

  #next(): void {
    const { random } = this.world;
    const key = this.#keys[this.#held.length];
    if (key === undefined) {
      this.#current = undefined;
      this.pod.environment.after(random.chance(0.15) ? random.next() * 5_000 : random.next() * 120, () => {
        this.#end('done');
      });
      return;
    }
    const wish = this.workload.wish(this.pod, key);
    this.#current = wish;
    const request = {
      key,
      weight: wish.weight,
      capacity: wish.capacity,
      waits: !this.#isTry,
      leaseMs: random.chance(0.2) ? 8_000 : 3_000,
      minHoldMs: random.chance(0.08) ? 300 : 0,
      maxHoldMs: random.chance(0.05) ? 2_500 : Infinity,
      description: wish.id,
    };
    wish.acquisition = this.pod.client.acquire(request, {
      held: () => {
        this.#held.push(wish);
        this.workload.held(wish);
        this.#next();
      },
      failed: ({ kind }) => {
        this.#end(kind);
      },
      lost: (reason) => {
        this.#end(`lost: ${reason}`);
      },
    });
  }

  #end(outcome: string): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.world.hit(outcome);
    this.workload.lastEnd = this.world.now;
    const { client } = this.pod;
    if (this.#current?.acquisition !== undefined) client.cancel(this.#current.acquisition);
    if (this.#current !== undefined) this.workload.over(this.#current);
    for (const wish of this.#held) {
      if (wish.acquisition !== undefined) client.release(wish.acquisition, () => undefined);
      this.workload.over(wish);
    }
    const { random, now } = this.world;
    this.workload.start(this.pod, now + (random.chance(0.6) ? random.next() * 50 : random.next() * 1_500));
  }
}
