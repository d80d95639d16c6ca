import { type LedgerEntry, withWholeNumbers } from './ledger.entry.js';
import { LATEST_MS } from './ledger.limits.js';
import { type LedgerObserver, type LossReason, SILENT_LEDGER_OBSERVER } from './ledger.observer.js';
import type { LedgerStore } from './ledger.store.js';

export interface LedgerOptions {
  readonly store: LedgerStore;
  /** Default: nobody looks. */
  readonly observer?: LedgerObserver;
  /** The clock of `LedgerEntry.at`, Unix ms. Default: the system's. */
  readonly now?: () => number;
  /** How many calls may wait for the store; more are lost. Default 10,000. */
  readonly mostPending?: number;
}

const MOST_PENDING = 10_000;
/** A call waits no longer than this for others to be written with, ms. */
const FLUSH_MS = 250;
/** After a failure the store is tried again so much later, ms. */
const RETRY_MS = 1_000;
/** Calls that one script writes: little enough that nobody else waits for it. */
const MOST_AT_ONCE = 25;

/**
 * Writes calls down, off their way: whoever books neither waits nor fails. They are written a quarter of a second later, together
 * with what else came; while the store is away they wait, ten minutes at most. What could not be written is told to the observer.
 *
 * A timer runs while something is pending, and until {@link close}.
 */
export class Ledger {
  readonly #store: LedgerStore;
  readonly #observer: LedgerObserver;
  readonly #now: () => number;
  readonly #mostPending: number;
  /** By caller, the oldest first. What is being written is still in it. */
  readonly #pending = new Map<string, LedgerEntry[]>();
  #count = 0;
  #timer: NodeJS.Timeout | undefined;
  #flushing: Promise<void> | undefined;
  #isLost = false;
  #isClosed = false;

  constructor({ store, observer, now, mostPending }: LedgerOptions) {
    this.#store = store;
    this.#observer = observer ?? SILENT_LEDGER_OBSERVER;
    this.#now = now ?? Date.now;
    this.#mostPending = mostPending ?? MOST_PENDING;
  }

  /** Never throws. */
  book(caller: string, entry: LedgerEntry): void {
    if (this.#isClosed || this.#count >= this.#mostPending) {
      this.#observer.lost(1, this.#isClosed ? 'shutdown' : 'overflow');
      return;
    }
    const lane = this.#pending.get(caller);
    const whole = withWholeNumbers(entry);
    if (lane === undefined) this.#pending.set(caller, [whole]);
    else lane.push(whole);
    this.#counted(1);
    this.#schedule(FLUSH_MS);
  }

  /** Writes what is pending now, for somebody who is about to read. Never rejects, and waits no longer than the store does. */
  async flush(): Promise<void> {
    // What is on its way may have left before the last call came.
    await this.#flushing;
    this.#flushing ??= this.#write().finally(() => {
      this.#flushing = undefined;
      if (this.#count > 0) this.#schedule(this.#isLost ? RETRY_MS : FLUSH_MS);
    });
    await this.#flushing;
  }

  /** Writes what is pending; what cannot be written now is lost. Never rejects; before the store closes. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.flush();
    clearTimeout(this.#timer);
    this.#timer = undefined;
    for (const [caller, lane] of this.#pending) this.#lose(caller, lane.length, 'shutdown');
  }

  async #write(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#loseLate();
    const results = await Promise.all([...this.#pending.keys()].map((caller) => this.#writeOf(caller)));
    const failure = results.find((result) => result !== undefined);
    if (failure !== undefined && !this.#isLost) this.#observer.storeLost(failure.error);
    if (failure === undefined && this.#isLost && results.length > 0) this.#observer.storeBack();
    this.#isLost = failure !== undefined || (this.#isLost && results.length === 0);
  }

  /** One batch after the other; answers the failure that ended it. */
  async #writeOf(caller: string): Promise<{ readonly error: unknown } | undefined> {
    for (;;) {
      const batch = this.#pending.get(caller)?.slice(0, MOST_AT_ONCE);
      if (batch === undefined) return undefined;
      try {
        await this.#store.book(caller, batch);
      } catch (error) {
        return { error };
      }
      this.#take(caller, batch.length);
      this.#observer.booked(batch.length);
    }
  }

  #loseLate(): void {
    const latest = this.#now() - LATEST_MS;
    for (const [caller, lane] of this.#pending) {
      const late = lane.findIndex(({ at }) => at > latest);
      if (late !== 0) this.#lose(caller, late === -1 ? lane.length : late, 'late');
    }
  }

  #lose(caller: string, calls: number, reason: LossReason): void {
    this.#take(caller, calls);
    this.#observer.lost(calls, reason);
  }

  #take(caller: string, calls: number): void {
    const lane = this.#pending.get(caller);
    lane?.splice(0, calls);
    if (lane?.length === 0) this.#pending.delete(caller);
    this.#counted(-calls);
  }

  #counted(change: number): void {
    this.#count += change;
    this.#observer.pending(this.#count);
  }

  #schedule(afterMs: number): void {
    if (this.#timer !== undefined || this.#flushing !== undefined || this.#isClosed) return;
    this.#timer = setTimeout(() => void this.flush(), afterMs).unref();
  }
}
