import type { BookedEntry, LedgerEntry } from './ledger.entry.js';
import {
  IDS_KEPT_MS,
  LATEST_MS,
  LEDGER_LIMITS,
  type LedgerLimits,
  MONTHS_KEPT_MS,
  MOST_IN_MEMORY,
  SKEW_MS,
} from './ledger.limits.js';
import { dayOf, monthOf, type PeriodName } from './ledger.periods.js';
import type { LedgerPage, LedgerStore, PageQuestion } from './ledger.store.js';
import { addSums, NO_SUMS, type Sums, type SumsByModel, sumsOf } from './ledger.sums.js';

interface KeptEntry extends BookedEntry {
  /** The id's two numbers. */
  readonly stamp: number;
  readonly number: number;
}

interface KeptSums {
  readonly byModel: Map<string, Sums>;
  endsAt: number;
}

/** What is kept of one caller. */
interface Book {
  readonly log: KeptEntry[];
  /** When each call was booked; the oldest first. */
  readonly ids: Map<string, number>;
  readonly sums: Map<PeriodName, KeptSums>;
}

const MEMORY_LIMITS: LedgerLimits = { ...LEDGER_LIMITS, mostEntries: MOST_IN_MEMORY };

/** The ledger of one process: the embedded store, and the executable model of the Redis one. */
export class MemoryLedgerStore implements LedgerStore {
  private readonly books = new Map<string, Book>();

  /** @param now - Unix ms, whole */
  constructor(
    private readonly limits: LedgerLimits = MEMORY_LIMITS,
    private readonly now: () => number = Date.now,
  ) {}

  book(caller: string, entries: readonly LedgerEntry[]): Promise<number> {
    if (entries.length === 0) return Promise.resolve(0);
    const now = this.now();
    const book = this.bookOf(caller);
    const { log, ids } = book;
    // Never behind the last entry, also where the clock has stepped back.
    const stamp = Math.max(now, log.at(-1)?.stamp ?? 0);
    forgetIds(ids, stamp - IDS_KEPT_MS, this.limits.mostEntries);
    const fresh = entries.filter(({ callId }) => !ids.has(callId) && ids.set(callId, stamp));
    for (const entry of fresh) {
      const number = log.at(-1)?.stamp === stamp ? (log.at(-1)?.number ?? 0) + 1 : 0;
      log.push({ ...entry, id: `${stamp}-${number}`, stamp, number });
      for (const [{ name }, keepMs] of this.periodsOf(entry)) count(book, name, entry, now + keepMs);
    }
    this.forget(book, now);
    return Promise.resolve(fresh.length);
  }

  sums(caller: string, periods: readonly PeriodName[]): Promise<readonly SumsByModel[]> {
    const now = this.now();
    const { sums } = this.bookOf(caller);
    const found = periods.map((name) => sums.get(name)).map((kept) => (kept && now < kept.endsAt ? kept : undefined));
    return Promise.resolve(found.map((kept) => new Map(kept?.byModel)));
  }

  page(caller: string, { from, to, after = '0-0', limit }: PageQuestion): Promise<LedgerPage> {
    const [stamp = 0, number = 0] = after.split('-').map(Number);
    const keptFrom = this.now() - this.limits.keepMs;
    const found = this.bookOf(caller)
      .log.filter((entry) => entry.stamp > keptFrom && isBehind(entry, stamp, number) && isAround(entry, from, to))
      .slice(0, limit);
    const next = found.length < limit ? undefined : found.at(-1)?.id;
    const entries = found.filter(({ at }) => at >= from && at < to).map(published);
    return Promise.resolve({ entries, ...(next !== undefined && { next }) });
  }

  private bookOf(caller: string): Book {
    const known = this.books.get(caller);
    if (known !== undefined) return known;
    const book: Book = { log: [], ids: new Map(), sums: new Map() };
    this.books.set(caller, book);
    return book;
  }

  private periodsOf({ at }: LedgerEntry) {
    return [
      [dayOf(at), this.limits.keepMs],
      [monthOf(at), MONTHS_KEPT_MS],
    ] as const;
  }

  private forget({ log, sums }: Book, now: number): void {
    const over = log.findIndex(({ stamp }) => stamp > now - this.limits.keepMs);
    log.splice(0, Math.max(over, log.length - this.limits.mostEntries, 0));
    for (const [name, { endsAt }] of sums) if (now >= endsAt) sums.delete(name);
  }
}

/** The oldest come first. Here no answer gets lost, so those that are too many may go before their time. */
function forgetIds(ids: Map<string, number>, until: number, most: number): void {
  for (const [id, at] of ids) {
    if (at > until && ids.size <= most) break;
    ids.delete(id);
  }
}

function count({ sums }: Book, name: PeriodName, entry: LedgerEntry, endsAt: number): void {
  const kept = sums.get(name) ?? { byModel: new Map<string, Sums>(), endsAt };
  const model = entry.model ?? '';
  kept.byModel.set(model, addSums(kept.byModel.get(model) ?? NO_SUMS, sumsOf(entry)));
  kept.endsAt = endsAt;
  sums.set(name, kept);
}

function isBehind(entry: KeptEntry, stamp: number, number: number): boolean {
  return entry.stamp > stamp || (entry.stamp === stamp && entry.number > number);
}

/** Those booked so early or so late are left out by the Redis one unseen. */
function isAround({ stamp }: KeptEntry, from: number, to: number): boolean {
  return stamp >= from - SKEW_MS && stamp <= to + LATEST_MS + SKEW_MS;
}

function published({ stamp: _stamp, number: _number, ...entry }: KeptEntry): BookedEntry {
  return entry;
}
