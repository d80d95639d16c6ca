import type { AnyStore } from '../../store/index.js';
import { LEDGER_LIMITS, MOST_IN_MEMORY } from './ledger.limits.js';
import type { LedgerStore } from './ledger.store.js';
import { MemoryLedgerStore } from './memory-ledger.store.js';
import { RedisLedgerStore } from './redis-ledger.store.js';

/** The ledger's store on what StoreModule provides under STORE. @param keepMs - how long entries are kept, ms; default 35 days */
export function ledgerStoreOn(store: AnyStore, keepMs: number = LEDGER_LIMITS.keepMs): LedgerStore {
  return store.kind === 'memory'
    ? new MemoryLedgerStore({ keepMs, mostEntries: MOST_IN_MEMORY })
    : new RedisLedgerStore(store, { ...LEDGER_LIMITS, keepMs });
}
