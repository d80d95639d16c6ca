import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Ledger } from '../../../src/ai/ledger/ledger.js';
import type { LedgerEntry } from '../../../src/ai/ledger/ledger.entry.js';
import type { LedgerPage, LedgerStore } from '../../../src/ai/ledger/ledger.store.js';
import { MemoryLedgerStore } from '../../../src/ai/ledger/memory-ledger.store.js';
import { ledgerEntry, NOON_MS } from '../../support/ledger-bench.js';

/** Can be away, frozen, or do its work and lose the answer. */
class FaultyStore implements LedgerStore {
  state: 'up' | 'down' | 'hangs' | 'answers nothing' = 'up';
  /** Whose keys are damaged. */
  brokenFor: string | undefined;
  /** Of each script that was run: whose, and of how many calls. */
  readonly asked: string[] = [];
  readonly #store = new MemoryLedgerStore();
  #thaw: () => void = () => undefined;

  async book(caller: string, entries: readonly LedgerEntry[]): Promise<number> {
    this.asked.push(`${caller} ${entries.length}`);
    if (this.state === 'hangs') await new Promise<void>((resolve) => (this.#thaw = resolve));
    if (this.brokenFor === caller) throw new TypeError('wrong type');
    if (this.state === 'down') throw new Error('away');
    const added = await this.#store.book(caller, entries);
    if (this.state === 'answers nothing') throw new Error('no answer');
    return added;
  }

  thaw(): void {
    this.state = 'up';
    this.#thaw();
  }

  sums = (): Promise<never> => Promise.reject(new Error('not asked for here'));
  page = (caller: string): Promise<LedgerPage> =>
    this.#store.page(caller, { from: 0, to: Number.POSITIVE_INFINITY, limit: 100_000 });
}

let store: FaultyStore;
let told: string[];
let ledger: Ledger;
const pass = (ms: number): Promise<void> => jest.advanceTimersByTimeAsync(ms);
const entry = (more: Partial<LedgerEntry> = {}): LedgerEntry => ledgerEntry({ at: Date.now(), ...more });
const booked = async (caller = 'acme'): Promise<string[]> =>
  (await store.page(caller)).entries.map(({ callId }) => callId);

function open(mostPending = 10_000): Ledger {
  const observer = {
    booked: (calls: number) => told.push(`booked ${calls}`),
    lost: (calls: number, reason: string) => told.push(`lost ${calls} ${reason}`),
    pending: () => undefined,
    storeLost: () => told.push('store lost'),
    storeBack: () => told.push('store back'),
  };
  return new Ledger({ store, observer, mostPending });
}

beforeEach(() => {
  jest.useFakeTimers({ now: NOON_MS });
  store = new FaultyStore();
  told = [];
  ledger = open();
});
afterEach(async () => {
  store.thaw();
  await ledger.close();
  expect(jest.getTimerCount()).toBe(0);
  jest.useRealTimers();
});

describe('Ledger', () => {
  it('writes what comes within a quarter of a second together, by caller', async () => {
    ledger.book('acme', entry());
    ledger.book('other', entry());
    await pass(100);
    ledger.book('acme', entry());
    expect(store.asked).toEqual([]);
    await pass(150);
    expect(store.asked).toEqual(['acme 2', 'other 1']);
    expect(told).toEqual(['booked 2', 'booked 1']);
  });

  it('has no timer while nothing is pending', async () => {
    ledger.book('acme', entry());
    await pass(250);
    expect(jest.getTimerCount()).toBe(0);
  });

  it('writes many in batches, in their order', async () => {
    const entries = Array.from({ length: 60 }, () => entry());
    for (const each of entries) ledger.book('acme', each);
    await pass(250);
    expect(store.asked).toEqual(['acme 25', 'acme 25', 'acme 10']);
    expect(await booked()).toEqual(entries.map(({ callId }) => callId));
  });

  it('writes at once for somebody who reads, also what came while it was writing', async () => {
    const [first, second] = [entry(), entry()];
    store.state = 'hangs';
    ledger.book('acme', first);
    void ledger.flush();
    await pass(0);
    ledger.book('acme', second);
    const read = ledger.flush().then(() => booked());
    await pass(0);
    store.thaw();
    expect(await read).toEqual([first.callId, second.callId]);
  });

  it('keeps calls while the store is away, tries again every second, and tells of it once', async () => {
    store.state = 'down';
    const first = entry();
    ledger.book('acme', first);
    await pass(5_250);
    expect(store.asked).toHaveLength(6);
    expect(told).toEqual(['store lost']);
    const second = entry();
    ledger.book('acme', second);
    store.state = 'up';
    await pass(1_000);
    expect(told).toEqual(['store lost', 'booked 2', 'store back']);
    expect(await booked()).toEqual([first.callId, second.callId]);
  });

  it('counts a call once whose answer was lost', async () => {
    const only = entry();
    store.state = 'answers nothing';
    ledger.book('acme', only);
    await pass(3_000);
    store.state = 'up';
    await pass(1_000);
    expect(await booked()).toEqual([only.callId]);
  });

  it('gives up calls that have waited for ten minutes, and no others', async () => {
    store.state = 'down';
    ledger.book('acme', entry());
    await pass(300_000);
    const later = entry();
    ledger.book('acme', later);
    await pass(299_000);
    expect(told).toEqual(['store lost']);
    await pass(2_000);
    expect(told).toEqual(['store lost', 'lost 1 late']);
    store.state = 'up';
    await pass(1_000);
    expect(await booked()).toEqual([later.callId]);
  });

  it('keeps no more than it may, and says how many are missing', async () => {
    ledger = open(3);
    store.state = 'down';
    const entries = Array.from({ length: 5 }, () => entry());
    for (const each of entries) ledger.book('acme', each);
    expect(told).toEqual(['lost 1 overflow', 'lost 1 overflow']);
    store.state = 'up';
    await pass(250);
    expect(await booked()).toEqual(entries.slice(0, 3).map(({ callId }) => callId));
    ledger.book('acme', entry());
    await pass(250);
    expect(await booked()).toHaveLength(4);
  });

  it('lets no odd number keep others out', async () => {
    ledger.book(
      'acme',
      entry({ promptTokens: 1.4, completionTokens: Number.NaN, costNanoUsd: -1, attempts: Infinity }),
    );
    await pass(250);
    const { entries } = await store.page('acme');
    expect(entries).toMatchObject([{ promptTokens: 1, completionTokens: 0, costNanoUsd: 0, attempts: 0 }]);
  });

  it('lets one caller’s trouble be nobody else’s', async () => {
    store.brokenFor = 'broken';
    ledger.book('broken', entry());
    for (let second = 0; second < 3; second += 1) {
      ledger.book('acme', entry());
      await pass(1_000);
    }
    expect(await booked()).toHaveLength(3);
  });

  it('writes what is pending before it closes, and nothing after', async () => {
    ledger.book('acme', entry());
    await ledger.close();
    expect(await booked()).toHaveLength(1);
    ledger.book('acme', entry());
    expect(told).toEqual(['booked 1', 'lost 1 shutdown']);
  });

  it('says what it could not write any more', async () => {
    store.state = 'down';
    for (const caller of ['acme', 'acme', 'other']) ledger.book(caller, entry());
    await ledger.close();
    expect(told).toEqual(['store lost', 'lost 2 shutdown', 'lost 1 shutdown']);
  });
});
