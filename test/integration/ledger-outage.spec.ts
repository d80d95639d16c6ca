import { describe, expect, it } from '@jest/globals';
import { Ledger } from '../../src/ai/ledger/ledger.js';
import type { LedgerObserver } from '../../src/ai/ledger/ledger.observer.js';
import { SILENT_LEDGER_OBSERVER } from '../../src/ai/ledger/ledger.observer.js';
import { dayOf } from '../../src/ai/ledger/ledger.periods.js';
import { RedisLedgerStore } from '../../src/ai/ledger/redis-ledger.store.js';
import { type RedisStore, type Store, StoreTimeoutError, StoreUnavailableError } from '../../src/store/index.js';
import { eventually } from '../support/eventually.js';
import { ledgerEntry } from '../support/ledger-bench.js';
import { pass } from '../support/pass.js';
import { sized } from '../support/proof-scale.js';
import { storeBench, TIMEOUT_MS } from '../support/store-bench.js';

const bench = storeBench();
/** A way to Redis on which every third answer is lost, and every fifth question is not sent. */
function lossy(store: RedisStore): Store {
  let asked = 0;
  return {
    kind: store.kind,
    keyPrefix: store.keyPrefix,
    run: async (...question) => {
      asked += 1;
      if (asked % 5 === 0) throw new StoreUnavailableError('not sent');
      const answer = await store.run(...question);
      if (asked % 3 === 0) throw new StoreTimeoutError('book', 300);
      return answer;
    },
    atTurnsEnd: (work) => {
      store.atTurnsEnd(work);
    },
    subscribe: (...given) => store.subscribe(...given),
    unsubscribe: (...given) => store.unsubscribe(...given),
    scan: (pattern) => store.scan(pattern),
    health: () => store.health(),
  };
}

const ROUNDS = sized(3, 30);
const PER_ROUND = 120;

describe('the ledger of three pods on a Redis that comes and goes', () => {
  it('has every call once, also those whose answers were lost', async () => {
    const told: string[] = [];
    const observer: LedgerObserver = {
      ...SILENT_LEDGER_OBSERVER,
      lost: (calls, reason) => told.push(`lost ${calls} ${reason}`),
      storeLost: () => told.push('store lost'),
    };
    const pods = [0, 1, 2].map(
      () => new Ledger({ store: new RedisLedgerStore(lossy(bench.open({ commandTimeoutMs: TIMEOUT_MS }))), observer }),
    );
    let booked = 0;
    for (let round = 0; round < ROUNDS; round += 1) {
      for (let call = 0; call < PER_ROUND; call += 1) {
        pods[call % 3]?.book(`caller ${call % 2}`, ledgerEntry({ at: Date.now() }));
        booked += 1;
        if (call % 20 === 0) await Promise.all(pods.map((pod) => pod.flush()));
      }
      void Promise.all(pods.map((pod) => pod.flush()));
      // What has been sent is done after the thaw, and nobody hears of it.
      bench.server.freeze();
      await pass(700);
      bench.server.thaw();
      await pass(100);
    }
    await eventually(async () => {
      await Promise.all(pods.map((pod) => pod.flush()));
      return (await countOf()) === booked;
    });
    await Promise.all(pods.map((pod) => pod.close()));
    expect(told).toContain('store lost');
    expect(told.filter((words) => words.startsWith('lost'))).toEqual([]);
    const store = new RedisLedgerStore(bench.open());
    const ids = new Set<string>();
    let requests = 0;
    for (const caller of ['caller 0', 'caller 1']) {
      const { entries } = await store.page(caller, { from: 0, to: Number.POSITIVE_INFINITY, limit: 100_000 });
      for (const { callId } of entries) ids.add(callId);
      const [sums] = await store.sums(caller, [dayOf(Date.now()).name.slice(0, 7)]);
      requests += sums?.get('gpt-4.1')?.requests ?? 0;
    }
    expect([ids.size, requests]).toEqual([booked, booked]);
  }, 120_000);
});

async function countOf(): Promise<number> {
  const logs = await bench.admin.keys('*lg:*:log');
  const lengths = await Promise.all(logs.map((log) => bench.admin.xlen(log)));
  return lengths.reduce((sum, length) => sum + length, 0);
}
