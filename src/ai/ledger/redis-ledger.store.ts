import type { Store } from '../../store/index.js';
import { countsOf, readEntry, readSums, wordsOf } from './ledger.codec.js';
import type { LedgerEntry } from './ledger.entry.js';
import { idsKey, logKey, sumsKey } from './ledger.keys.js';
import { IDS_KEPT_MS, LATEST_MS, LEDGER_LIMITS, type LedgerLimits, MONTHS_KEPT_MS, SKEW_MS } from './ledger.limits.js';
import { dayOf, monthOf, type PeriodName } from './ledger.periods.js';
import { type LedgerScripts, loadLedgerScripts } from './ledger.scripts.js';
import type { LedgerPage, LedgerStore, PageQuestion } from './ledger.store.js';
import { type SumsByModel, sumsOf } from './ledger.sums.js';

/** The ledger of all pods on one Redis. What belongs to one call is written by one script, so it is there whole or not at all. */
export class RedisLedgerStore implements LedgerStore {
  constructor(
    private readonly store: Store,
    private readonly limits: LedgerLimits = LEDGER_LIMITS,
    private readonly scripts: LedgerScripts = loadLedgerScripts(),
  ) {}

  async book(caller: string, entries: readonly LedgerEntry[]): Promise<number> {
    let added = 0;
    for (const ofOneDay of byDay(entries)) added += await this.bookDay(caller, ofOneDay);
    return added;
  }

  async sums(caller: string, periods: readonly PeriodName[]): Promise<readonly SumsByModel[]> {
    const keys = periods.map((period) => sumsKey(this.store.keyPrefix, caller, period));
    const reply = arrayOf(await this.store.run(this.scripts.sums, keys, []));
    return reply.map((words) => readSums(arrayOf(words)));
  }

  async page(caller: string, { from, to, after, limit }: PageQuestion): Promise<LedgerPage> {
    const { keyPrefix } = this.store;
    const first = after === undefined ? String(Math.max(0, from - SKEW_MS)) : following(after);
    const last = Number.isFinite(to) ? String(Math.max(0, to + LATEST_MS + SKEW_MS)) : '+';
    const args = [first, last, this.limits.keepMs, limit];
    const found = arrayOf(await this.store.run(this.scripts.page, [logKey(keyPrefix, caller)], args)).map(readRow);
    const next = found.length < limit ? undefined : found.at(-1)?.id;
    const entries = found.filter(({ at }) => at >= from && at < to);
    return { entries, ...(next !== undefined && { next }) };
  }

  private async bookDay(caller: string, entries: readonly LedgerEntry[]): Promise<number> {
    const [first] = entries;
    if (first === undefined) return 0;
    const { keyPrefix } = this.store;
    const periods = [dayOf(first.at), monthOf(first.at)].map(({ name }) => sumsKey(keyPrefix, caller, name));
    const words = entries.flatMap((entry) => {
      const described = wordsOf(entry);
      const counted = countsOf(sumsOf(entry), entry.model ?? '');
      return [entry.callId, described.length, ...described, counted.length, ...counted];
    });
    const { keepMs, mostEntries } = this.limits;
    const added = await this.store.run(
      this.scripts.book,
      [logKey(keyPrefix, caller), idsKey(keyPrefix, caller), ...periods],
      [keepMs, MONTHS_KEPT_MS, IDS_KEPT_MS, mostEntries, ...words],
    );
    if (typeof added !== 'number') throw new TypeError('book.lua answered something else than a number');
    return added;
  }
}

function byDay(entries: readonly LedgerEntry[]): readonly (readonly LedgerEntry[])[] {
  const days = new Map<PeriodName, LedgerEntry[]>();
  for (const entry of entries) {
    const { name } = dayOf(entry.at);
    const day = days.get(name);
    if (day === undefined) days.set(name, [entry]);
    else day.push(entry);
  }
  return [...days.values()];
}

/** The id right behind: exclusive ranges are not known to every Redis that this service runs on. */
function following(id: string): string {
  const [stamp = '0', number = '0'] = id.split('-');
  return `${stamp}-${String(BigInt(number) + 1n)}`;
}

function readRow(row: unknown) {
  const [id, words] = arrayOf(row);
  if (typeof id !== 'string') throw new TypeError('page.lua answered an entry without an id');
  return readEntry(id, arrayOf(words));
}

function arrayOf(value: unknown): readonly unknown[] {
  if (!Array.isArray(value)) throw new TypeError('a script of the ledger answered no list where it must');
  return value as readonly unknown[];
}
