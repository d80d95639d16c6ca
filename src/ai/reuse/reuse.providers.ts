import type { Provider } from '@nestjs/common';
import { type AnyStore, STORE } from '../../store/index.js';
import type { AiOptions } from '../ai.options.js';
import { AnswerLine } from './flight/answer.line.js';
import { Flights } from './flight/flights.js';
import { QuotaAccounts } from '../quota/quota.accounts.js';
import { REUSE_ACCOUNTS, type ReuseAccounts } from './reuse.accounts.js';
import { ReuseMetrics } from './reuse.metrics.js';
import { ReusePlanner } from './reuse.planner.js';
import { ReuseService } from './reuse.service.js';
import { Rides } from './rides.js';
import { answerStoreOn } from './store/answer-store.factory.js';

/** A stream is kept for those who come later as long as it is no longer than so many of the largest cached answers. */
const STREAM_TO_ENTRY = 4;

/** What ReuseService is made of, on what StoreModule provides under STORE. */
export function reuseProviders({ cache }: Pick<AiOptions, 'cache'>): Provider[] {
  return [
    ReuseService,
    ReusePlanner,
    ReuseMetrics,
    { provide: REUSE_ACCOUNTS, useExisting: QuotaAccounts },
    {
      provide: Rides,
      inject: [STORE, REUSE_ACCOUNTS, ReuseMetrics],
      useFactory: (store: AnyStore, accounts: ReuseAccounts, observer: ReuseMetrics): Rides => {
        const line = new AnswerLine(answerStoreOn(store), observer);
        const mostChars = STREAM_TO_ENTRY * cache.maxEntryBytes;
        return new Rides(new Flights({ line, observer, mostChars }), accounts, observer);
      },
    },
  ];
}
