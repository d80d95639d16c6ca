import type { ReuseObserver } from '../reuse.observer.js';
import type { AnswerStore, FlightOf } from '../store/answer.store.js';

/** A quarter of the lease, ms. */
const BEAT_MS = 1_000;
/** So many flights in one command at most. */
const AT_ONCE = 200;

/** Keeps the flights that this process leads alive: few commands a second, however many there are. */
export class Heartbeat {
  readonly #flights = new Map<string, FlightOf>();
  #timer: NodeJS.Timeout | undefined;
  #isBeating = false;

  constructor(
    private readonly store: AnswerStore,
    private readonly observer: ReuseObserver,
  ) {}

  /** @returns to be called when it is over */
  add(flight: FlightOf): () => void {
    this.#flights.set(flight.token, flight);
    this.#timer ??= setInterval(() => void this.#beat(), BEAT_MS).unref();
    return () => {
      this.#flights.delete(flight.token);
      if (this.#flights.size === 0) this.stop();
    };
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  async #beat(): Promise<void> {
    if (this.#isBeating) return;
    this.#isBeating = true;
    try {
      for (const shelf of new Set([...this.#flights.values()].map((flight) => flight.shelf))) {
        const flights = [...this.#flights.values()].filter((flight) => flight.shelf === shelf);
        for (let at = 0; at < flights.length; at += AT_ONCE) {
          await this.store.beat({ shelf, flights: flights.slice(at, at + AT_ONCE) });
        }
      }
    } catch (error) {
      // The leases may end meanwhile: then others begin again, and this process's answers are kept all the same.
      this.observer.storeLost(error);
    } finally {
      this.#isBeating = false;
    }
  }
}
