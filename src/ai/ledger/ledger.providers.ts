import type { Provider } from '@nestjs/common';
import { type AnyStore, STORE } from '../../store/index.js';
import { BUDGET_READER, NO_BUDGETS } from './budget.reader.js';
import { BudgetMetrics } from './budget.metrics.js';
import { BudgetWatch } from './budget.watch.js';
import { ledgerStoreOn } from './ledger-store.factory.js';
import { LedgerMetrics } from './ledger.metrics.js';
import { LEDGER_STORE, type LedgerStore } from './ledger.store.js';
import { Ledger } from './ledger.js';
import { UsageService } from './usage.service.js';

/**
 * The ledger on the application's store. Where callers have limits, a BUDGET_READER is to be provided behind these.
 *
 * @param keepMs - how long entries are kept, ms; default 35 days
 */
export function ledgerProviders(keepMs?: number): readonly Provider[] {
  return [
    LedgerMetrics,
    BudgetMetrics,
    UsageService,
    { provide: BUDGET_READER, useValue: NO_BUDGETS },
    { provide: LEDGER_STORE, inject: [STORE], useFactory: (store: AnyStore) => ledgerStoreOn(store, keepMs) },
    {
      provide: Ledger,
      inject: [LEDGER_STORE, LedgerMetrics],
      useFactory: (store: LedgerStore, observer: LedgerMetrics) => new Ledger({ store, observer }),
    },
    {
      provide: BudgetWatch,
      inject: [BudgetMetrics],
      useFactory: (observer: BudgetMetrics) => new BudgetWatch(observer),
    },
  ];
}
