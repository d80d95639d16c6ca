import type { UsageCounts } from '../reply/completion.js';
import type { QuotaKind } from './quota.refusal.js';

/** How a call ended. */
export interface CallEnd {
  readonly outcome: 'answered' | 'cut' | 'aborted';
  /** What is billed: all of an answered reply, of another what had been delivered; undefined: nothing. */
  readonly bill: UsageCounts | undefined;
}

type Bills = { replies: number } & { -readonly [member in keyof UsageCounts]: number };

/** What became of the requests of one model and key. */
export class QuotaBooks {
  private inFlightNow = 0;
  private peakInFlight = 0;
  private admitted = 0;
  private aborted = 0;
  private refused = noRefusals();
  private billed = noBills();
  private billedPartly = noBills();

  /** Calls that run now. */
  get inFlight(): number {
    return this.inFlightNow;
  }

  refuse(kind: QuotaKind): void {
    this.refused[kind] += 1;
  }

  admit(): void {
    this.admitted += 1;
    this.inFlightNow += 1;
    this.peakInFlight = Math.max(this.peakInFlight, this.inFlightNow);
  }

  settle({ outcome, bill }: CallEnd): void {
    this.inFlightNow -= 1;
    this.aborted += outcome === 'aborted' ? 1 : 0;
    if (bill === undefined) return;
    const bills = outcome === 'answered' ? this.billed : this.billedPartly;
    bills.replies += 1;
    bills.promptTokens += bill.promptTokens;
    bills.cachedTokens += bill.cachedTokens;
    bills.completionTokens += bill.completionTokens;
  }

  /** Forgets everything but the calls in flight. */
  reset(): void {
    this.peakInFlight = this.inFlightNow;
    this.admitted = 0;
    this.aborted = 0;
    this.refused = noRefusals();
    this.billed = noBills();
    this.billedPartly = noBills();
  }

  /** For GET /stats. `seen` are all that were judged. */
  toJson(): object {
    const { inFlightNow: inFlight, peakInFlight, admitted, aborted, refused, billed, billedPartly } = this;
    const seen = admitted + refused.requests + refused.tokens + refused.concurrency;
    return { seen, admitted, refused, inFlight, peakInFlight, aborted, billed, billedPartly };
  }
}

function noRefusals(): Record<QuotaKind, number> {
  return { requests: 0, tokens: 0, concurrency: 0 };
}

function noBills(): Bills {
  return { replies: 0, promptTokens: 0, cachedTokens: 0, completionTokens: 0 };
}
