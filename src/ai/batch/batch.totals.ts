import type { OutcomeFields } from '../../observability/index.js';
import type { CallReport } from '../call/completion-call.js';

const NANO_PER_USD = 1_000_000_000;

/** What a batch's items came to together. */
export class BatchTotals {
  #succeeded = 0;
  #failed = 0;
  #attempts = 0;
  #promptTokens = 0;
  #completionTokens = 0;
  /** Whole billionths: a thousand small costs are to sum up exactly. */
  #costNanoUsd: number | undefined;

  /** An item is over. */
  ended(isSuccess: boolean): void {
    if (isSuccess) this.#succeeded += 1;
    else this.#failed += 1;
  }

  /** An item's call is over. */
  called({ attempts, promptTokens = 0, completionTokens = 0, costUsd }: CallReport): void {
    this.#attempts += attempts;
    this.#promptTokens += promptTokens;
    this.#completionTokens += completionTokens;
    if (costUsd !== undefined) this.#costNanoUsd = (this.#costNanoUsd ?? 0) + Math.round(costUsd * NANO_PER_USD);
  }

  get succeeded(): number {
    return this.#succeeded;
  }

  /** Undefined: none had a price. */
  get costUsd(): number | undefined {
    return this.#costNanoUsd === undefined ? undefined : this.#costNanoUsd / NANO_PER_USD;
  }

  /** What a batch adds to its request's outcome line. */
  fields(): OutcomeFields {
    return {
      items: this.#succeeded + this.#failed,
      failed_items: this.#failed,
      attempts: this.#attempts,
      prompt_tokens: this.#promptTokens,
      completion_tokens: this.#completionTokens,
      cost_usd: this.costUsd,
    };
  }
}
