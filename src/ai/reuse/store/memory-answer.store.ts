import { MemoryShelf } from './memory-shelf.js';
import {
  ANSWER_LIMITS as LIMITS,
  type AnswerStore,
  type BeatAnswer,
  type BeatCommand,
  type EnterAnswer,
  type EnterCommand,
  type FinishCommand,
  type FlightOf,
  type LookAnswer,
  type LookCommand,
} from './answer.store.js';

/** What is over is decided by its end; it is cleared away so much later, ms: a clock may step back. */
const FORGET_MS = 60_000;

interface KeptFlight {
  readonly token: string;
  readonly purpose: string;
  /** Ms. */
  leaseEnd: number;
  /** Processes, and until when each is believed to wait, ms. */
  readonly waiting: Map<string, number>;
}

interface Told {
  readonly text: string;
  readonly end: number;
}

/** The answers and flights of one process: the embedded store, and the executable model of the Redis one. */
export class MemoryAnswerStore implements AnswerStore {
  readonly #shelves = new Map<string, MemoryShelf>();
  readonly #flights = new Map<string, KeptFlight>();
  readonly #told = new Map<string, Told>();
  readonly #receivers = new Map<string, (token: string) => void>();

  /** @param clock - µs since 1970, whole; the system's by default, which never steps back while the process lives */
  constructor(private readonly clock: () => number = systemClock) {}

  enter({ shelf, flight, token, answers, purpose, process }: EnterCommand): Promise<EnterAnswer> {
    const ms = this.#ms();
    const kept = this.#shelves.get(shelf)?.find(answers, ms);
    if (kept !== undefined) {
      return Promise.resolve(kept.purpose === purpose ? { kind: 'kept', text: kept.text } : { kind: 'mismatch' });
    }
    if (token === '') return Promise.resolve({ kind: 'nothing' });
    const led = this.#flightAt({ shelf, flight }, ms);
    if (led === undefined) {
      const leaseEnd = ms + LIMITS.leaseMs;
      this.#flights.set(nameOf({ shelf, flight }), { token, purpose, leaseEnd, waiting: new Map() });
      return Promise.resolve({ kind: 'leads' });
    }
    if (led.purpose !== purpose) return Promise.resolve({ kind: 'mismatch' });
    if (led.token === token) return Promise.resolve({ kind: 'leads' });
    led.waiting.set(process, ms + LIMITS.interestMs);
    return Promise.resolve({ kind: 'follows', token: led.token });
  }

  look({ token, process, ...place }: LookCommand): Promise<LookAnswer> {
    const ms = this.#ms();
    const told = this.#told.get(nameOf({ shelf: place.shelf, flight: token }));
    if (told !== undefined && ms < told.end) return Promise.resolve({ kind: 'over', text: told.text });
    const led = this.#flightAt(place, ms);
    if (led?.token !== token) return Promise.resolve({ kind: 'gone' });
    led.waiting.set(process, ms + LIMITS.interestMs);
    return Promise.resolve({ kind: 'running' });
  }

  beat({ shelf, flights }: BeatCommand): Promise<readonly BeatAnswer[]> {
    const ms = this.#ms();
    const answers = flights.map(({ flight, token }): BeatAnswer => {
      const led = this.#flightAt({ shelf, flight }, ms);
      if (led?.token !== token) return undefined;
      led.leaseEnd = ms + LIMITS.leaseMs;
      return waitersOf(led, ms).length;
    });
    return Promise.resolve(answers);
  }

  finish({ shelf, flight, token, purpose, text, keep }: FinishCommand): Promise<void> {
    const ms = this.#ms();
    this.#forget(ms);
    if (keep !== undefined)
      this.#shelf(shelf).keep(keep.answer, { purpose, text, end: ms + keep.forMs }, ms, keep.shelfBytes);
    const led = this.#flightAt({ shelf, flight }, ms);
    if (led?.token !== token) return Promise.resolve();
    this.#flights.delete(nameOf({ shelf, flight }));
    const waiters = waitersOf(led, ms);
    if (waiters.length > 0 && text !== '')
      this.#told.set(nameOf({ shelf, flight: token }), { text, end: ms + LIMITS.tellMs });
    for (const process of waiters) this.#tell(process, token);
    return Promise.resolve();
  }

  leave({ token, process, ...place }: FlightOf & { readonly process: string }): Promise<void> {
    const led = this.#flightAt(place, this.#ms());
    if (led?.token === token) led.waiting.delete(process);
    return Promise.resolve();
  }

  subscribe(process: string, over: (token: string) => void): Promise<void> {
    this.#receivers.set(process, over);
    return Promise.resolve();
  }

  unsubscribe(process: string): Promise<void> {
    this.#receivers.delete(process);
    return Promise.resolve();
  }

  /** What Redis ends by itself: the oldest first, and no further than something that may count still. */
  #forget(ms: number): void {
    for (const [name, { end }] of this.#told) {
      if (end + FORGET_MS > ms) break;
      this.#told.delete(name);
    }
    for (const [name, { leaseEnd }] of this.#flights) {
      if (leaseEnd + FORGET_MS > ms) break;
      this.#flights.delete(name);
    }
  }

  #flightAt(place: Omit<FlightOf, 'token'>, ms: number): KeptFlight | undefined {
    const led = this.#flights.get(nameOf(place));
    return led !== undefined && ms < led.leaseEnd ? led : undefined;
  }

  #shelf(name: string): MemoryShelf {
    const shelf = this.#shelves.get(name) ?? new MemoryShelf();
    this.#shelves.set(name, shelf);
    return shelf;
  }

  #tell(process: string, token: string): void {
    queueMicrotask(() => {
      this.#receivers.get(process)?.(token);
    });
  }

  #ms(): number {
    return Math.floor(this.clock() / 1_000);
  }
}

function waitersOf({ waiting }: KeptFlight, ms: number): readonly string[] {
  return [...waiting].filter(([, until]) => ms < until).map(([process]) => process);
}

function nameOf({ shelf, flight }: Omit<FlightOf, 'token'>): string {
  return `${shelf}/${flight}`;
}

/** Never steps back while the process lives. */
function systemClock(): number {
  return Math.floor((performance.timeOrigin + performance.now()) * 1_000);
}
