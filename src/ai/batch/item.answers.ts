import type { CompletionCall } from '../call/completion-call.js';
import type { ReuseService } from '../reuse/reuse.service.js';
import type { ReuseTerms } from '../reuse/reuse.terms.js';

/** Gets an item answered, the way a completion of its own is. */
export interface ItemAnswers {
  /**
   * @returns JSON text of an OpenAI chat completion
   * @throws ApiError for every failure; the signal's reason when the batch is aborted
   */
  complete(call: CompletionCall, terms: ReuseTerms): Promise<string>;
}

/** Injection token. */
export const ITEM_ANSWERS = Symbol('ITEM_ANSWERS');

/** As completions are: from the cache, by a call that is under way, or by one of its own. */
export function answersBy(reuse: Pick<ReuseService, 'answer'>): ItemAnswers {
  return {
    async complete(call, terms) {
      const delivery = await reuse.answer(call, terms);
      if (delivery.kind === 'live') throw new TypeError('a call without a stream was answered with one');
      return delivery.recording.text;
    },
  };
}
