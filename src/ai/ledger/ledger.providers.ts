import type { Provider } from '@nestjs/common';
import { type AnyStore, STORE } from '../../store/index.js';
import { BUDGET_READER } from './budget.reader.js';
import { ledgerStoreOn } from './ledger-store.factory.js';
import { LedgerMetrics } from './ledger.metrics.js';
import { LEDGER_STORE, type LedgerStore } from './ledger.store.js';
import { Ledger } from './ledger.js';
import { QuotaReader } from '../quota/quota.reader.js';
import { UsageService } from './usage.service.js';

/** The ledger on the application's store; whoever books closes it. @param keepMs - how long entries are kept, ms */
export function ledgerProviders(keepMs: number): readonly Provider[] {
  return [
    LedgerMetrics,
    UsageService,
    { provide: BUDGET_READER, useClass: QuotaReader },
    { provide: LEDGER_STORE, inject: [STORE], useFactory: (store: AnyStore) => ledgerStoreOn(store, keepMs) },
    {
      provide: Ledger,
      inject: [LEDGER_STORE, LedgerMetrics],
      useFactory: (store: LedgerStore, observer: LedgerMetrics) => new Ledger({ store, observer }),
    },
  ];
}
