import type { LockClient } from '../../src/lock/client/lock.client.js';
import type { LockStore } from '../../src/lock/lock.store.js';
import { EventQueue, type Scheduled } from './event.queue.js';
import { SeededRandom } from './seeded.random.js';
import { StoreTimeline } from './store.timeline.js';

/** What is simulated: the product's own classes, or mutants of them. */
export interface Subject {
  readonly LockClient: typeof LockClient;
  readonly SuspendAwareClock: new (monotonic: () => number, wall: () => number) => { now(): number };
  readonly resolveLockKeys: (keys: readonly string[]) => readonly string[];
  readonly MemoryLockStore: new (options: { clock: () => number }) => LockStore;
}

/** What the days of a seed are like. */
export type Weather = (typeof WEATHERS)[number];

/**
 * network: nothing worse than messages, pods and a store that stalls · clocks: the store's clock is set, too · flush: it loses all
 * data · failover: it falls back to what a replica had · gone: it never answers again when the other faults are over
 */
const WEATHERS = ['network', 'network', 'clocks', 'flush', 'failover', 'gone'] as const;

const START_US = 1_764_421_836_000_000;

/** Faults come until then, ms; then everything must come to rest by itself. */
export const FAULTS_END = 15_000;
/** At rest by then, ms. */
export const REST_AT = FAULTS_END + 90_000;

/** Time, chance, the store and the network of one seed. */
export class World {
  readonly random: SeededRandom;
  readonly queue = new EventQueue();
  readonly weather: Weather;
  /** Answers and messages get lost, doubled and late. */
  readonly isLossy: boolean;
  /** Some take seconds. */
  readonly isSlow: boolean;
  /** Answers to acquires, and messages, more often than anything else. */
  readonly isUnfair: boolean;
  readonly violations: string[] = [];
  readonly seen = new Map<string, number>();
  readonly log: string[] = [];
  readonly store: StoreTimeline;
  now = 0;
  /** Counts how often the store lost data. */
  epoch = 0;
  storePausedUntil = 0;
  storeClockSteps = 0;
  #storeOffsetUs = START_US;
  readonly #storeRate: number;
  #unanswered = 0;

  constructor(
    readonly seed: number,
    readonly subject: Subject,
    private readonly isLogged = false,
  ) {
    this.random = new SeededRandom(seed);
    this.weather = WEATHERS[seed % WEATHERS.length] ?? 'network';
    this.isLossy = this.random.chance(0.8);
    this.isSlow = this.random.chance(0.3);
    this.isUnfair = this.random.chance(0.25);
    this.#storeRate = 1 + (this.random.next() - 0.5) * 0.006;
    this.store = new StoreTimeline(
      (clock) => new this.subject.MemoryLockStore({ clock }),
      () => Math.floor(this.now * 1000 * this.#storeRate) + this.#storeOffsetUs,
      this.weather === 'failover',
    );
  }

  get hasFaults(): boolean {
    return this.now < FAULTS_END;
  }

  /** For good. */
  get isStoreGone(): boolean {
    return this.weather === 'gone' && !this.hasFaults;
  }

  /** Until it is gone. */
  get keepsData(): boolean {
    return this.weather !== 'flush' && this.weather !== 'failover';
  }

  at(time: number, run: () => void, owner?: string): Scheduled {
    return this.queue.add(Math.max(time, this.now), run, owner);
  }

  /** How long a message is on its way, ms. */
  latency(): number {
    const chance = this.random.next();
    if (this.hasFaults && this.isSlow && chance < 0.05) return this.random.next() * 6_000;
    if (this.hasFaults && this.isLossy && chance < 0.1) return this.random.next() * 800;
    return 0.2 + this.random.next() * 4;
  }

  /** Runs a command at the store once it goes on; what it answers is known before the next event. */
  command<Answer>(run: (store: LockStore) => Promise<Answer>, done: (answer: Answer) => void): void {
    if (this.isStoreGone) return;
    if (this.now < this.storePausedUntil) {
      this.at(this.storePausedUntil + this.random.next() * 2, () => {
        this.command(run, done);
      });
      return;
    }
    this.ask(run, done);
  }

  /** Asks at once, whatever stands still. */
  ask<Answer>(ask: (store: LockStore) => Promise<Answer>, done: (answer: Answer) => void): void {
    this.#await(this.store.run(this.now, ask), done);
  }

  /** Looks at the store as the command before left it. */
  look<Answer>(ask: (store: LockStore) => Promise<Answer>, done: (answer: Answer) => void): void {
    this.#await(this.store.look(ask), done);
  }

  /** Resolves when the store has answered all that it was asked. */
  async settle(): Promise<void> {
    while (this.#unanswered > 0) await Promise.resolve();
  }

  stepStoreClock(milliseconds: number): void {
    this.storeClockSteps += 1;
    this.#storeOffsetUs += Math.floor(milliseconds * 1000);
  }

  pauseStore(milliseconds: number): void {
    this.storePausedUntil = Math.max(this.storePausedUntil, this.now + milliseconds);
  }

  loseStore(): void {
    this.epoch += 1;
    this.store.empty();
  }

  /**
   * The primary is gone, with what its replica had not got; nobody answers until the replica has taken over. Its clock is off by less
   * than that takes.
   */
  failOver(lostMs: number, takesMs: number): void {
    this.epoch += 1;
    const lost = this.store.fallBack(this.now - lostMs);
    if (lost > 0) this.hit('commands lost in a failover', lost);
    this.pauseStore(takesMs);
    this.stepStoreClock((this.random.next() - 0.7) * takesMs * 0.9);
  }

  violate(rule: string, fact: string): void {
    this.note(`VIOLATION ${rule}: ${fact}`);
    if (this.violations.length < 5) this.violations.push(`${rule}: ${fact} at ${this.now.toFixed(1)}`);
  }

  hit(event: string, times = 1): void {
    this.seen.set(event, (this.seen.get(event) ?? 0) + times);
  }

  note(line: string): void {
    if (this.isLogged) this.log.push(`${this.now.toFixed(2)} ${line}`);
  }

  #await<Answer>(answering: Promise<Answer>, done: (answer: Answer) => void): void {
    this.#unanswered += 1;
    void answering.then((answer) => {
      this.#unanswered -= 1;
      done(answer);
    });
  }
}
