import { Inject, Injectable } from '@nestjs/common';
import { AI_OPTIONS, type AiOptions } from '../ai.options.js';
import type { Deployment } from '../catalogue/catalogue.js';
import { ADAPTERS, type Adapters } from '../upstream/adapters.js';
import type { ProviderAdapter, UpstreamReply } from '../upstream/provider.adapter.js';
import { UpstreamFailure } from '../upstream/upstream-failure.js';
import { editObject } from '../wire/json-text.js';
import type { Attempt } from './attempt.js';
import { AttemptSequence } from './attempt.sequence.js';
import { wantsUsage } from './chat-request.js';
import { ChunkWriter } from './chunk.writer.js';
import type { CompletionCall } from './completion-call.js';
import { CompletionRouter } from './completion.router.js';
import { pricedUsage, priceOf, readUsage, type Usage } from './cost.js';
import { holdHead } from './stream.head.js';
import { relay } from './stream.relay.js';
import { UpstreamGate } from './upstream.gate.js';

export interface CompletionReply {
  /** JSON text of an OpenAI chat completion. */
  readonly text: string;
  readonly headers: Readonly<Record<string, string>>;
}

export interface CompletionStream {
  /** Server-sent events. Never throws: what goes wrong becomes an error event. */
  readonly text: AsyncGenerator<string>;
  readonly headers: Readonly<Record<string, string>>;
}

/** Gets a completion answered: a plan, then one candidate after the other until one answers or the request is to blame. */
@Injectable()
export class CompletionService {
  constructor(
    private readonly router: CompletionRouter,
    private readonly gate: UpstreamGate,
    @Inject(ADAPTERS) private readonly adapters: Adapters,
    @Inject(AI_OPTIONS) private readonly options: AiOptions,
  ) {}

  /** @throws ApiError for every failure; the signal's reason when the caller has left */
  complete(call: CompletionCall): Promise<CompletionReply> {
    return this.answer(call, async (attempt) => {
      const { model, deployment } = attempt.candidate;
      const reply = await this.adapterOf(deployment).complete(attempt.request);
      attempt.timers.stop();
      call.report.upstreamMs = attempt.elapsedMs();
      const usage = readUsage(reply.value['usage'], reply.value['service_tier']);
      this.record(attempt, usage);
      this.gate.completed(attempt, usage);
      return { text: finalText(reply, model.name, call.report.costUsd), headers: reply.headers };
    });
  }

  /**
   * Resolves once the first content is there.
   *
   * @throws ApiError for every failure before it; the signal's reason when the caller has left
   */
  stream(call: CompletionCall): Promise<CompletionStream> {
    return this.answer(call, async (attempt) => {
      const { timers } = attempt;
      const { model, deployment } = attempt.candidate;
      const upstream = await this.adapterOf(deployment).stream(attempt.request);
      const events = await holdHead(deployment.upstream.name, upstream.events);
      timers.progressed();
      call.report.upstreamMs = attempt.elapsedMs();
      this.gate.begun(attempt);
      const writer = new ChunkWriter({
        model: model.name,
        wantsUsage: wantsUsage(call.request),
        ...(deployment.prices && { prices: deployment.prices }),
      });
      const ended = (error?: unknown): void => {
        this.record(attempt, writer.usage);
        if (error === undefined) this.gate.ended(attempt);
        // A reader that is too slow is no failure of the provider's.
        else if (error instanceof UpstreamFailure && !timers.hasExpiredOnHold) this.gate.failed(attempt, error);
        else this.gate.abandoned(attempt);
        call.ended(error);
      };
      return { text: relay({ events, timers, writer, caller: call.signal, ended }), headers: upstream.headers };
    });
  }

  private async answer<T>(call: CompletionCall, ask: (attempt: Attempt) => Promise<T>): Promise<T> {
    const plan = await this.router.plan(call);
    const sequence = new AttemptSequence(call, plan, this.gate, { rules: this.options.attempts });
    return sequence.answer(async (turn) => {
      const { model, deployment } = turn.candidate;
      const attempt = this.gate.begin(turn, call);
      call.report.model = model.name;
      call.report.provider = deployment.upstream.name;
      call.report.route = plan.reasonFor(model);
      try {
        return await ask(attempt);
      } catch (error) {
        attempt.timers.stop();
        if (error instanceof UpstreamFailure && !call.signal.aborted) this.gate.failed(attempt, error);
        else this.gate.abandoned(attempt);
        throw error;
      }
    });
  }

  private record({ call, candidate }: Attempt, usage: Usage | undefined): void {
    if (usage === undefined) return;
    const { model, deployment } = candidate;
    call.report.promptTokens = usage.promptTokens;
    call.report.completionTokens = usage.completionTokens;
    const cost = priceOf(usage, deployment.prices);
    if (cost !== undefined) call.report.costUsd = cost;
    this.gate.billed(candidate, usage, call.report.costUsd);
    this.router.counted(call, model, usage);
  }

  private adapterOf({ upstream }: Deployment): ProviderAdapter {
    return this.adapters[upstream.kind];
  }
}

function finalText({ text }: UpstreamReply, model: string, cost: number | undefined): string {
  return editObject(text, {
    model: JSON.stringify(model),
    usage: (usage) => pricedUsage(usage, cost),
  });
}
