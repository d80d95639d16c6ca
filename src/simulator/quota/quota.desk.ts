import { InOrder } from './in-order.js';
import { QuotaAccount, type Demand, type OpenCall } from './quota.account.js';
import type { CallEnd } from './quota.books.js';
import { rateLimitHeaders, type RateLimitHeaders } from './quota.headers.js';
import type { QuotaLimits } from './quota.limits.js';
import type { QuotaRefusal } from './quota.refusal.js';

/** What an arrival is told. */
export interface Ruling {
  /** Undefined: it is let in. */
  readonly refusal: QuotaRefusal | undefined;
  /** `x-ratelimit-*`, this request included. */
  readonly headers: RateLimitHeaders;
}

/** One request from its arrival to its end. */
export interface QuotaVisit {
  readonly ruling: Promise<Ruling>;
  /** Once, at the moment at which it ends, also when it was refused or has not been ruled on yet. */
  leave(outcome: CallEnd['outcome'], bill: Promise<CallEnd['bill']>): void;
}

/**
 * Where the requests of one model and key arrive and leave. Each is judged as of the moment of its arrival, in the order of arrivals, though its tokens are
 * known a little later; so does the end of a call take effect as of its moment.
 */
export class QuotaDesk {
  private readonly account: QuotaAccount;
  private readonly order = new InOrder();

  /** @param clock monotonic milliseconds */
  constructor(
    limits: QuotaLimits,
    private readonly clock: () => number,
  ) {
    this.account = new QuotaAccount(limits);
  }

  arrive(demand: Promise<Demand>): QuotaVisit {
    const arrivedAt = this.clock();
    let call: OpenCall | undefined;
    const ruling = this.order.run(demand, (known) => {
      const verdict = this.account.admit(arrivedAt, known);
      call = verdict.call;
      return { refusal: verdict.refusal, headers: rateLimitHeaders(this.account.windows) };
    });
    return {
      ruling,
      leave: (outcome, bill) => {
        const leftAt = this.clock();
        void this.order.run(bill, (known) => {
          if (call !== undefined) this.account.settle(call, leftAt, { outcome, bill: known });
        });
      },
    };
  }

  limit(limits: QuotaLimits): void {
    this.account.limit(limits);
  }

  /** Opens new books, after everything that has happened so far. */
  resetBooks(): Promise<void> {
    const resetAt = this.clock();
    return this.order.run(undefined, () => {
      this.account.advance(resetAt);
      this.account.resetBooks();
    });
  }

  /** True: forgetting it changes no later ruling. */
  get isIdle(): boolean {
    this.advance();
    return this.order.isDone && this.account.isIdle;
  }

  /** The books, with everything that has happened so far. */
  async toJson(): Promise<object> {
    await this.order.done();
    this.advance();
    return this.account.toJson();
  }

  // A step that still waits is of an earlier moment: the account may not be ahead of it.
  private advance(): void {
    if (this.order.isDone) this.account.advance(this.clock());
  }
}
