import { Injectable } from '@nestjs/common';
import { costUsd } from './cost.js';
import { CompletionRouter } from './completion.router.js';
import { maxOutputTokensOf } from './chat-request.js';
import type { CompletionCall } from './completion-call.js';
import { PromptGauge } from './prompt.gauge.js';
import { UpstreamGate } from './upstream.gate.js';
import type { RouteReason } from '../route/obstacle.js';

/** What would become of a request now. */
export interface DryRun {
  readonly object: 'chat.completion.dry_run';
  readonly model: string;
  readonly provider: string;
  readonly route: RouteReason;
  /** In the order in which they would be tried. */
  readonly candidates: readonly {
    readonly model: string;
    readonly provider: string;
    /** Undefined: it would be tried; otherwise why it would be passed over. */
    readonly passed_over?: string;
  }[];
  readonly tokens: {
    readonly prompt: number;
    /** The prompt was too much to count now: an upper bound. */
    readonly prompt_is_bound: boolean;
    /** The most that all its answers together may have. */
    readonly max_completion: number;
  };
  /** USD at the first candidate's prices; null: it has none. */
  readonly cost_usd: { readonly prompt: number; readonly at_most: number } | null;
}

/** Answers where a request would go and what it would cost, and calls nobody. */
@Injectable()
export class DryRunService {
  constructor(
    private readonly router: CompletionRouter,
    private readonly gate: UpstreamGate,
    private readonly gauge: PromptGauge,
  ) {}

  /** @throws ApiError what a real call would be refused with */
  async of(call: CompletionCall): Promise<DryRun> {
    const { plan } = await this.router.preview(call);
    const cards = plan.candidates.map((candidate) => ({ candidate, obstacle: this.gate.obstacleAt(candidate) }));
    for (const { candidate, obstacle } of cards) {
      if (obstacle === undefined) break;
      plan.meet(candidate, obstacle);
    }
    const first = cards.find(({ obstacle }) => obstacle === undefined)?.candidate;
    if (first === undefined) throw plan.refusal();
    const { model, deployment } = first;
    const { tokens, isEstimate } = await this.gauge.count(call, model);
    const choices = call.request.n ?? 1;
    const maxCompletion =
      choices * Math.min(maxOutputTokensOf(call.request) || model.maxOutputTokens, model.maxOutputTokens);
    const cost = (completionTokens: number): number =>
      deployment.prices === undefined
        ? 0
        : costUsd({ promptTokens: tokens, cachedTokens: 0, completionTokens }, deployment.prices);
    return {
      object: 'chat.completion.dry_run',
      model: model.name,
      provider: deployment.upstream.name,
      route: plan.reasonFor(model),
      candidates: cards.map(({ candidate, obstacle }) => ({
        model: candidate.model.name,
        provider: candidate.deployment.upstream.name,
        ...(obstacle !== undefined && { passed_over: obstacle.error.message }),
      })),
      tokens: { prompt: tokens, prompt_is_bound: isEstimate, max_completion: maxCompletion },
      cost_usd: deployment.prices === undefined ? null : { prompt: cost(0), at_most: cost(maxCompletion) },
    };
  }
}
