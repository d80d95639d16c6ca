import type { LockClient } from '../../src/lock/client/lock.client.js';
import type { LockStore } from '../../src/lock/lock.store.js';
import { EventQueue, type Scheduled } from './event.queue.js';
import { SeededRandom } from './seeded.random.js';

/** What is simulated: the product's own classes, or mutants of them. */
export interface Subject {
  readonly LockClient: typeof LockClient;
  readonly SuspendAwareClock: new (monotonic: () => number, wall: () => number) => { now(): number };
  readonly MemoryLockStore: new (options: { clock: () => number }) => LockStore;
}

/** What the days of a seed are like. */
export type Weather = 'network' | 'clocks' | 'flush';

/** One more microsecond is guessed past a repeated reading, so that two commands never have the same time. */
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
  now = 0;
  store: LockStore;
  /** Counts the stores that lost all data. */
  epoch = 0;
  storePausedUntil = 0;
  #storeOffsetUs = START_US;
  #lastUs = 0;
  readonly #storeRate: number;
  #unanswered = 0;
  #isLooking = false;

  constructor(
    readonly seed: number,
    readonly subject: Subject,
    private readonly isLogged = false,
  ) {
    this.random = new SeededRandom(seed);
    this.weather = (['network', 'network', 'clocks', 'flush'] as const)[seed % 4] ?? 'network';
    this.isLossy = this.random.chance(0.8);
    this.isSlow = this.random.chance(0.3);
    this.isUnfair = this.random.chance(0.25);
    this.#storeRate = 1 + (this.random.next() - 0.5) * 0.006;
    this.store = this.#newStore();
  }

  get hasFaults(): boolean {
    return this.now < FAULTS_END;
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
  command<Answer>(run: () => Promise<Answer>, done: (answer: Answer) => void): void {
    if (this.now < this.storePausedUntil) {
      this.at(this.storePausedUntil + this.random.next() * 2, () => {
        this.command(run, done);
      });
      return;
    }
    this.#unanswered += 1;
    void run().then((answer) => {
      this.#unanswered -= 1;
      done(answer);
    });
  }

  /** Asks the store at the very time of the command before. */
  looking<Answer>(ask: () => Promise<Answer>): Promise<Answer> {
    this.#isLooking = true;
    const answer = ask();
    this.#isLooking = false;
    return answer;
  }

  /** Resolves when the store has answered all that it was asked. */
  async settle(): Promise<void> {
    while (this.#unanswered > 0) await Promise.resolve();
  }

  stepStoreClock(milliseconds: number): void {
    this.#storeOffsetUs += Math.floor(milliseconds * 1000);
  }

  loseStore(): void {
    this.epoch += 1;
    this.store = this.#newStore();
  }

  violate(rule: string, fact: string): void {
    this.note(`VIOLATION ${rule}: ${fact}`);
    if (this.violations.length < 5) this.violations.push(`${rule}: ${fact} at ${this.now.toFixed(1)}`);
  }

  hit(event: string): void {
    this.seen.set(event, (this.seen.get(event) ?? 0) + 1);
  }

  note(line: string): void {
    if (this.isLogged) this.log.push(`${this.now.toFixed(2)} ${line}`);
  }

  #newStore(): LockStore {
    return new this.subject.MemoryLockStore({
      clock: () => {
        if (this.#isLooking) return this.#lastUs;
        const us = Math.floor(this.now * 1000 * this.#storeRate) + this.#storeOffsetUs;
        // A reading is never repeated, but a step back is a step back.
        this.#lastUs = us <= this.#lastUs && this.#lastUs - us < 1_000 ? this.#lastUs + 1 : us;
        return this.#lastUs;
      },
    });
  }
}
