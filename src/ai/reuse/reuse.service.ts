import { Injectable } from '@nestjs/common';
import { ApiError } from '../../http/index.js';
import type { CompletionCall } from '../call/completion-call.js';
import { CompletionService } from '../call/completion.service.js';
import type { Delivery } from './flight/flight.plan.js';
import { givingAgain, givingOnce } from './giving.js';
import { makeCall, withUsage } from './made.call.js';
import { ReusePlanner } from './reuse.planner.js';
import { reuseMode, type ReuseTerms } from './reuse.terms.js';
import { Rides } from './rides.js';

/**
 * Gets a completion answered without paying twice: from the cache, by a call that is under way, or by one of its own, which others
 * may join. With an Idempotency-Key a request is answered once, however often it is sent.
 */
@Injectable()
export class ReuseService {
  constructor(
    private readonly completions: CompletionService,
    private readonly planner: ReusePlanner,
    private readonly rides: Rides,
  ) {}

  /**
   * Tells the call's `ended` how it went, on every way out; where others still wait for a call whose caller has left, at its end.
   *
   * @throws ApiError for every failure before the first content; the signal's reason when the caller has left
   */
  async answer(call: CompletionCall, terms: ReuseTerms): Promise<Delivery> {
    const { idempotencyKey: key } = terms;
    const delivery = await (key === undefined ? this.shared(call, terms) : this.keyed(call, key, terms));
    const { cache = 'bypass', model = 'none' } = call.report;
    this.rides.observer.met(cache, model);
    return delivery;
  }

  /** Ends what nobody waits for any more; while the store's connections are still there. Never rejects. */
  close(): Promise<void> {
    return this.rides.close(new ApiError('draining', 'the service is going down'));
  }

  private keyed(call: CompletionCall, key: string, terms: ReuseTerms): Promise<Delivery> {
    const work = (inner: CompletionCall): Promise<Delivery> => this.shared(inner, terms);
    const plan = this.planner.keyed(call, key);
    return this.told(call, () => this.rides.join(call, { plan, work, giving: givingAgain }));
  }

  private shared(call: CompletionCall, terms: ReuseTerms): Promise<Delivery> {
    const { isShared, isKept } = reuseMode(terms, call.request);
    call.report.cache = 'bypass';
    if (!isKept) return makeCall(this.completions, call);
    return this.told(call, async () => {
      const shared = await this.planner.shared(call);
      if (shared === undefined) return makeCall(this.completions, call);
      const work = (inner: CompletionCall): Promise<Delivery> => {
        if (isShared) {
          inner.report.cache = 'miss';
          inner.trace?.met('miss');
        }
        // Another one's, who has taken the seat of who boarded first, may ask for the same by another name.
        return makeCall(this.completions, withUsage(inner), inner.body === call.body ? shared.preview : undefined);
      };
      const ride = { plan: shared.flight, work, giving: givingOnce(shared.routeOf) };
      return isShared ? this.rides.join(call, ride) : this.rides.alone(call, ride);
    });
  }

  /** Of a call that is made, whoever makes it tells the end. */
  private async told(call: CompletionCall, answer: () => Promise<Delivery>): Promise<Delivery> {
    try {
      return await answer();
    } catch (error) {
      if (!this.rides.hasMade(call)) call.ended(error);
      throw error;
    }
  }
}
