import type { Provider } from '@nestjs/common';
import { ReuseService } from '../reuse/reuse.service.js';
import { BatchService } from './batch.service.js';
import { answersBy, ITEM_ANSWERS } from './item.answers.js';

/** Batches whose items are answered as completions are. */
export const BATCH_PROVIDERS: readonly Provider[] = [
  BatchService,
  { provide: ITEM_ANSWERS, inject: [ReuseService], useFactory: answersBy },
];
