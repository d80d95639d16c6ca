import type { LockMessage, LockStore } from '../../src/lock/lock.store.js';

type Command<Answer> = (store: LockStore) => Promise<Answer>;

interface Ran {
  /** When, by the world's time, ms. */
  readonly at: number;
  /** The store's clock as the command read it. */
  readonly us: number;
  readonly command: Command<unknown>;
}

/**
 * The store of one seed, and what it was a while ago: a replica has run the same commands at the same readings of the clock, except
 * for those that had not reached it yet.
 */
export class StoreTimeline {
  #store: LockStore;
  #ran: Ran[] = [];
  #lastUs = 0;
  readonly #receivers = new Map<string, (message: LockMessage) => void>();
  /** In place of the clock. */
  #reading: number | undefined;

  constructor(
    private readonly make: (clock: () => number) => LockStore,
    private readonly clock: () => number,
    /** Whether there are replicas. */
    private readonly isReplicated: boolean,
  ) {
    this.#store = this.#new();
  }

  run<Answer>(at: number, command: Command<Answer>): Promise<Answer> {
    const answer = command(this.#store);
    if (this.isReplicated) this.#ran.push({ at, us: this.#lastUs, command });
    return answer;
  }

  subscribe(process: string, receive: (message: LockMessage) => void): void {
    this.#receivers.set(process, receive);
    void this.#store.subscribe(process, receive);
  }

  unsubscribe(process: string): void {
    this.#receivers.delete(process);
    void this.#store.unsubscribe(process);
  }

  /** Asks at the very time of the command before. */
  look<Answer>(ask: Command<Answer>): Promise<Answer> {
    return this.#as(this.#lastUs, () => ask(this.#store));
  }

  /** Everything is lost. */
  empty(): void {
    this.#replay([]);
  }

  /** A replica takes over that has missed all commands after this time. @returns how many */
  fallBack(time: number): number {
    const kept = this.#ran.filter(({ at }) => at <= time);
    const lost = this.#ran.length - kept.length;
    this.#replay(kept);
    return lost;
  }

  /** What was told then was told then: nobody listens before it is over. */
  #replay(commands: Ran[]): void {
    this.#store = this.#new();
    for (const { us, command } of commands) void this.#as(us, () => command(this.#store));
    for (const [process, receive] of this.#receivers) void this.#store.subscribe(process, receive);
    this.#ran = commands;
  }

  #as<Answer>(us: number, ask: () => Answer): Answer {
    this.#reading = us;
    const answer = ask();
    this.#reading = undefined;
    return answer;
  }

  #new(): LockStore {
    return this.make(() => {
      if (this.#reading !== undefined) return this.#reading;
      const us = this.clock();
      // A reading is never repeated, but a step back is a step back.
      this.#lastUs = us <= this.#lastUs && this.#lastUs - us < 1_000 ? this.#lastUs + 1 : us;
      return this.#lastUs;
    });
  }
}
