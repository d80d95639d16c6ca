import { EventQueue } from '../simulation/event.queue.js';
import type { TestClock } from './clocked-redis.js';

/** Time that jumps from one event to the next. An event may take its time: the next one waits for it. */
export class VirtualTime {
  readonly #queue = new EventQueue();
  #doing: Promise<unknown> | undefined;

  constructor(private readonly clock: TestClock) {}

  /** ms */
  get now(): number {
    return this.clock.us / 1_000;
  }

  after(ms: number, run: () => unknown): void {
    this.#queue.add(this.now + ms, () => {
      this.#doing = Promise.resolve(run());
    });
  }

  /** Until nothing is left to happen. */
  async run(): Promise<void> {
    for (let event = this.#queue.next(); event !== undefined; event = this.#queue.next()) {
      this.clock.us = Math.max(this.clock.us, Math.round(event.at * 1_000));
      event.run();
      await this.#doing;
    }
  }
}
