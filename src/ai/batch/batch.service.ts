import { hash } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { ApiError, ClientGoneError } from '../../http/index.js';
import { LOGGER, type Logger } from '../../observability/index.js';
import { AI_OPTIONS, type AiOptions } from '../ai.options.js';
import { parseChatRequest } from '../call/chat-request.js';
import type { CompletionCall } from '../call/completion-call.js';
import { CompletionObserver } from '../call/completion.observer.js';
import { type CallTerms, openCall } from '../endpoint/call.reader.js';
import type { ReuseTerms } from '../reuse/reuse.terms.js';
import { isObject } from '../wire/json-value.js';
import { AbortScope } from './abort.scope.js';
import type { Batch } from './batch.request.js';
import { type BatchProgress, type BatchResult, itemError, type ItemOutcome, resultText } from './batch.result.js';
import { BatchTotals } from './batch.totals.js';
import { runBounded } from './bounded.js';
import { ITEM_ANSWERS, type ItemAnswers } from './item.answers.js';

/** On which terms a batch is done. */
export interface BatchTerms {
  /** Of the request. The deadline is that of the whole batch, ms; Infinity: each item's own is enough. */
  readonly call: CallTerms;
  readonly reuse: ReuseTerms;
  /** `performance.now()` when the batch arrived. */
  readonly startedAt: number;
  /** Aborted when the caller leaves, or when the service ends the batch. */
  readonly signal: AbortSignal;
  /** Filled in as items end. */
  readonly totals: BatchTotals;
}

/** Answers requests that were sent together, each by itself and as it would have been alone. */
@Injectable()
export class BatchService {
  constructor(
    @Inject(ITEM_ANSWERS) private readonly answers: ItemAnswers,
    private readonly observer: CompletionObserver,
    @Inject(AI_OPTIONS) private readonly options: Pick<AiOptions, 'requestDeadlineMs'>,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /**
   * Resolves when every item has its answer or its error. When the signal aborts those under way are aborted, and the others fail
   * with its reason without having been begun.
   *
   * @throws ClientGoneError where nobody is left to read the result
   */
  async run(batch: Batch, terms: BatchTerms, finished: (progress: BatchProgress) => void): Promise<BatchResult> {
    const { signal, totals } = terms;
    const results = Array<string>(batch.size).fill('');
    let completed = 0;
    const over = (index: number, outcome: ItemOutcome): void => {
      results[index] = resultText(index, outcome);
      completed += 1;
      const success = 'data' in outcome;
      totals.ended(success);
      finished({ completed, total: batch.size, index, success, ...('error' in outcome && { error: outcome.error }) });
    };
    const running = new AbortScope(signal);
    try {
      await runBounded(batch.size, { concurrency: batch.concurrency, signal }, async (index) => {
        over(index, await running.within((own) => this.outcomeOf(batch, index, { ...terms, signal: own })));
      });
    } finally {
      running.close();
    }
    if (signal.reason instanceof ClientGoneError) throw signal.reason;
    for (let index = 0; index < batch.size; index += 1) {
      if (results[index] === '') over(index, { error: itemError(signal.reason, terms.call.requestId) });
    }
    return { results, succeeded: totals.succeeded };
  }

  private async outcomeOf(batch: Batch, index: number, terms: BatchTerms): Promise<ItemOutcome> {
    const { requestId } = terms.call;
    try {
      return { data: await this.answer(this.open(batch, index, terms), keyedTerms(terms.reuse, index)) };
    } catch (error) {
      const told = itemError(error, requestId);
      if (told.code === 'internal_error' && !(error instanceof ClientGoneError)) {
        this.logger.error({ err: error, request_id: requestId, code: told.code, item: index }, 'unforeseen error');
      }
      return { error: told };
    }
  }

  private async answer(call: CompletionCall, reuse: ReuseTerms): Promise<string> {
    try {
      const text = await this.answers.complete(call, reuse);
      call.ended();
      return text;
    } catch (error) {
      call.ended(error);
      throw error;
    }
  }

  private open(batch: Batch, index: number, { call: terms, startedAt, signal, totals }: BatchTerms): CompletionCall {
    const leftMs = Math.floor(terms.deadlineMs - (performance.now() - startedAt));
    if (leftMs <= 0) throw new ApiError('timeout', "the batch's time was over before this item's turn came");
    const { body, text } = batch.item(index);
    const request = parseChatRequest(body, text);
    if (request.stream === true) {
      throw new ApiError('invalid_request', 'stream must not be true in a batch', { param: 'stream' });
    }
    const deadlineMs = Math.min(this.options.requestDeadlineMs, leftMs);
    const requestId = `${terms.requestId}.${index}`;
    const given = {
      ...terms,
      request,
      body: isObject(body) ? body : {},
      bodyText: text,
      deadlineMs,
      requestId,
      signal,
    };
    return openCall(given, (call, error) => {
      totals.called(call.report);
      this.observer.record(call, error);
    });
  }
}

/** A batch that is sent again finds each item's answer under a key of its own, and does what was not done. */
function keyedTerms({ idempotencyKey, ...terms }: ReuseTerms, index: number): ReuseTerms {
  if (idempotencyKey === undefined) return terms;
  return { ...terms, idempotencyKey: `batch:${hash('sha256', idempotencyKey)}:${index}` };
}
