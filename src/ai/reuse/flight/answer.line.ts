import { randomUUID } from 'node:crypto';
import type { ReuseObserver } from '../reuse.observer.js';
import type { AnswerStore, EnterAnswer, EnterCommand, FinishCommand, FlightOf } from '../store/answer.store.js';
import { Heartbeat } from './heartbeat.js';
import { Wake } from './wake.js';

/** Between two looks at a flight of another pod's: a lost message costs no more, ms. */
const LOOK_MS = 1_000;

/** This process's way to the store of answers. */
export class AnswerLine {
  readonly #process = randomUUID();
  readonly #wake = new Wake();
  readonly #heartbeat: Heartbeat;
  #listening: Promise<void> | undefined;

  constructor(
    private readonly store: AnswerStore,
    private readonly observer: ReuseObserver,
  ) {
    this.#heartbeat = new Heartbeat(store, observer);
  }

  /** @throws StoreError */
  enter(command: Omit<EnterCommand, 'process'>): Promise<EnterAnswer> {
    return this.store.enter({ process: this.#process, ...command });
  }

  /** A flight of this process's lives from now on until the function is called. */
  lead(flight: FlightOf): () => void {
    return this.#heartbeat.add(flight);
  }

  /** Whether other processes wait for a flight of this one's. */
  async isAwaited({ shelf, ...flight }: FlightOf): Promise<boolean> {
    try {
      const [waiting = 0] = await this.store.beat({ shelf, flights: [flight] });
      return waiting > 0;
    } catch (error) {
      // Who waits beyond a store that is away will not get the answer.
      this.observer.storeLost(error);
      return false;
    }
  }

  /**
   * Waits for the end of another process's flight.
   *
   * @returns what those who wait are told; undefined: begin again, nobody leads it any more
   * @throws the signal's reason
   */
  async follow(flight: FlightOf, signal: AbortSignal): Promise<string | undefined> {
    await this.#listen();
    try {
      for (;;) {
        const woken = this.#wake.wait(flight.token, LOOK_MS, signal);
        const seen = await this.store.look({ process: this.#process, ...flight });
        if (seen.kind === 'over') return seen.text;
        if (seen.kind === 'gone') return undefined;
        await woken;
        signal.throwIfAborted();
      }
    } catch (error) {
      if (!signal.aborted) this.observer.storeLost(error);
      else await this.#leave(flight);
      signal.throwIfAborted();
      return undefined;
    } finally {
      this.#wake.call(flight.token);
    }
  }

  /** Never rejects: where the store is away, the lease ends by itself, and whoever waits begins again. */
  async finish(command: FinishCommand): Promise<void> {
    try {
      await this.store.finish(command);
    } catch (error) {
      this.observer.storeLost(error);
    }
  }

  /** While the store's connections are still there. */
  async close(): Promise<void> {
    this.#heartbeat.stop();
    if (this.#listening !== undefined) await this.store.unsubscribe(this.#process);
  }

  async #leave(flight: FlightOf): Promise<void> {
    try {
      await this.store.leave({ process: this.#process, ...flight });
    } catch (error) {
      this.observer.storeLost(error);
    }
  }

  /** Without messages the looks have to do; the next who waits asks again. */
  async #listen(): Promise<void> {
    this.#listening ??= this.store.subscribe(
      this.#process,
      (token) => {
        this.#wake.call(token);
      },
      () => {
        this.#wake.callAll();
      },
    );
    try {
      await this.#listening;
    } catch (error) {
      this.#listening = undefined;
      this.observer.storeLost(error);
    }
  }
}
