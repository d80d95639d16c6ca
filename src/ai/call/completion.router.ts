import { Inject, Injectable } from '@nestjs/common';
import type { ModelSettings } from '../../config/index.js';
import { Catalogue } from '../catalogue/catalogue.js';
import { type PlanRequest, RoutePlanner } from '../route/route.planner.js';
import type { RoutePlan } from '../route/route.plan.js';
import { KeyService } from '../keys/key.service.js';
import { ADAPTERS, type Adapters } from '../upstream/adapters.js';
import { bodyForProvider } from './attempt.js';
import { maxOutputTokensOf, namesOf } from './chat-request.js';
import type { CompletionCall } from './completion-call.js';
import { PromptGauge } from './prompt.gauge.js';

/** A preview is as good as a plan that is made now for so long, ms. */
const FRESH_MS = 20;

/** Who would have answered a call a moment ago. */
export interface Preview {
  readonly plan: RoutePlan;
  /** `performance.now()` */
  readonly at: number;
}

/** Plans who may answer a completion call. */
@Injectable()
export class CompletionRouter {
  readonly #planner: RoutePlanner;

  constructor(
    catalogue: Catalogue,
    @Inject(ADAPTERS) adapters: Adapters,
    keys: KeyService,
    private readonly gauge: PromptGauge,
  ) {
    this.#planner = new RoutePlanner(catalogue, ({ upstream }) => adapters[upstream.kind], keys);
  }

  /** A provider has counted the prompt of an answered call: the next counts are better for it. */
  counted(call: CompletionCall, model: ModelSettings, promptTokens: number): void {
    void this.gauge.learn(call, model, promptTokens);
  }

  /**
   * @param preview - of this call: it need not be planned again where that was just done
   * @throws the signal's reason when the caller has left
   */
  async plan(call: CompletionCall, preview?: Preview): Promise<RoutePlan> {
    const isFresh = preview !== undefined && performance.now() - preview.at < FRESH_MS;
    const plan = isFresh ? preview.plan : (await this.preview(call)).plan;
    this.#planner.took(plan);
    return plan;
  }

  /** For a call that is not going to be made, or not yet. @throws the signal's reason when the caller has left */
  async preview(call: CompletionCall): Promise<Preview> {
    return { plan: await this.#planner.preview(this.request(call)), at: performance.now() };
  }

  private request(call: CompletionCall): PlanRequest {
    const { request, caller, isStrict, bodyText } = call;
    return {
      names: namesOf(request),
      isExplicit: Array.isArray(request.models),
      caller,
      isStrict,
      // This service's own members are no provider's business: whether it can be told them is not asked.
      body: bodyForProvider(call),
      bodyLength: bodyText.length,
      maxOutputTokens: maxOutputTokensOf(request),
      countPrompt: (model) => this.gauge.promptTokens(call, model),
    };
  }
}
