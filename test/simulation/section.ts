import type { GuardedState } from './guarded.state.js';
import type { Pod, Wish } from './pod.js';
import type { Workload } from './workload.js';
import { FAULTS_END, type World } from './world.js';

/** No new section begins after that, ms. */
const WORK_END = FAULTS_END + 10_000;

/** Two calls of a second each, by timers that are a little late, ms. */
const TRY_MS = 2_100;

/** One more task of a pod: section after section, for as long as there is work. */
export function startTask(workload: Workload, pod: Pod, world: World, at: number): void {
  world.at(
    at,
    () => {
      if (world.now < WORK_END) new Section(workload, pod, world).begin();
    },
    pod.name,
  );
}

/** One critical section: its keys one after the other, some time and a write to what they guard, and the way out. */
class Section {
  readonly #held: Wish[] = [];
  /** What was read at the beginning, to be written at the end. */
  readonly #readings = new Map<Wish, { readonly state: GuardedState; readonly number: number }>();
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
    if (key !== undefined) {
      this.#acquire(key);
      return;
    }
    this.#current = undefined;
    this.pod.environment.after(random.chance(0.15) ? random.next() * 5_000 : random.next() * 120, () => {
      for (const wish of this.#held) this.#write(wish);
      this.#end('done');
    });
  }

  #acquire(key: string): void {
    const { random } = this.world;
    const wish = this.workload.wish(this.pod, key);
    const { weight, capacity, minHoldMs, maxHoldMs, id: description } = wish;
    const leaseMs = this.#leaseMs();
    const request = { key, weight, capacity, leaseMs, minHoldMs, maxHoldMs, description, waits: !this.#isTry };
    this.#current = wish;
    wish.acquisition = this.pod.client.acquire(request, {
      held: () => {
        this.#held.push(wish);
        this.workload.held(wish);
        this.#takeOver(wish);
        if (random.chance(0.25)) this.#extendLater(wish);
        this.#next();
      },
      failed: ({ kind }) => {
        this.#end(kind === 'busy' ? 'busy' : `failed: ${kind}`);
      },
      lost: (reason) => {
        this.workload.watcher.leases.lost(wish, reason);
        this.#end(`lost: ${reason}`);
      },
    });
    if (this.#isTry) this.#endsSoon(wish);
  }

  /** A try may well be for less than an answer takes. */
  #leaseMs(): number {
    const { random } = this.world;
    if (this.#isTry && random.chance(0.5)) return 300;
    return random.chance(0.2) ? 8_000 : 3_000;
  }

  /** Whatever the store does, who does not wait has an outcome within two calls; a pod that stood still begins to count anew. */
  #endsSoon(wish: Wish): void {
    const startedAt = this.world.now;
    this.pod.environment.after(TRY_MS, () => {
      if (this.#isOver || this.#current !== wish) return;
      if (this.pod.pausedUntil > startedAt) this.#endsSoon(wish);
      else this.world.violate('a try goes on', `${wish.id} is ${wish.acquisition?.state ?? 'new'}`);
    });
  }

  #extendLater(wish: Wish): void {
    const { random } = this.world;
    const milliseconds = 1_000 + Math.floor(random.next() * 11_000);
    this.pod.environment.after(random.next() * 1_000, () => {
      if (this.#isOver || wish.acquisition === undefined) return;
      const sentAt = this.pod.environment.now();
      this.pod.client.extend(wish.acquisition, milliseconds, (outcome) => {
        this.world.hit(`extension: ${outcome}`);
        if (outcome === 'extended') this.workload.watcher.leases.extended(wish, sentAt, milliseconds);
      });
    });
  }

  /** By messages of their own, which may be as late as any. */
  #takeOver(wish: Wish): void {
    const state = this.workload.stateOf(wish);
    const fence = wish.acquisition?.fence;
    if (state === undefined || fence === undefined) return;
    this.#send(() => {
      const number = state.takeOver(fence);
      if (number === undefined) return;
      this.#send(() => {
        this.#readings.set(wish, { state, number });
      });
    });
  }

  #write(wish: Wish): void {
    const reading = this.#readings.get(wish);
    const { acquisition } = wish;
    if (reading === undefined || acquisition === undefined || !this.pod.client.isValid(acquisition)) return;
    const { fence } = acquisition;
    this.#send(() => {
      reading.state.write(fence, reading.number);
    });
  }

  #send(arrive: () => void): void {
    this.world.at(this.world.now + this.world.latency(), arrive);
  }

  #end(outcome: string): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.world.hit(outcome);
    this.workload.lastEnd = this.world.now;
    const { client } = this.pod;
    if (this.#current?.acquisition !== undefined) client.cancel(this.#current.acquisition);
    if (this.#current !== undefined) this.workload.over(this.#current, false);
    for (const wish of this.#held) {
      const isValid = this.workload.watcher.holders.isValid(wish);
      if (wish.acquisition !== undefined) client.release(wish.acquisition, () => undefined);
      this.workload.over(wish, isValid);
    }
    const { random, now } = this.world;
    const pauseMs = random.chance(0.6) ? random.next() * 50 : random.next() * 1_500;
    startTask(this.workload, this.pod, this.world, now + pauseMs);
  }
}
