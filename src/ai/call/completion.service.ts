import { Inject, Injectable } from '@nestjs/common';
import type { Deployment } from '../catalogue/catalogue.js';
import { ADAPTERS, type Adapters } from '../upstream/adapters.js';
import type { ProviderAdapter } from '../upstream/provider.adapter.js';
import { readReasoningTokens } from '../ledger/bill.js';
import { deliveredIn } from '../ledger/delivered.text.js';
import { LateSendError } from '../upstream/sending.js';
import { UpstreamFailure } from '../upstream/upstream-failure.js';
import { editObject } from '../wire/json-text.js';
import type { Attempt } from './attempt.js';
import type { AttemptEnd, CallAccount } from './call.account.js';
import { CallDesk, type OpenCall } from './call.desk.js';
import { wantsUsage } from './chat-request.js';
import { ChunkWriter } from './chunk.writer.js';
import type { CompletionCall } from './completion-call.js';
import { CompletionObserver } from './completion.observer.js';
import type { Preview } from './completion.router.js';
import { pricedUsage, priceOf, readUsage } from './cost.js';
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
    private readonly desk: CallDesk,
    private readonly gate: UpstreamGate,
    private readonly observer: CompletionObserver,
    @Inject(ADAPTERS) private readonly adapters: Adapters,
  ) {}

  /**
   * @param preview - its plan, where it was just made
   * @throws ApiError for every failure; the signal's reason when the caller has left
   */
  async complete(call: CompletionCall, preview?: Preview): Promise<CompletionReply> {
    const open = await this.desk.open(call, preview);
    try {
      const reply = await this.answer(call, open, (attempt) => this.whole(attempt, open));
      open.account.close();
      return reply;
    } catch (error) {
      open.account.close(error);
      throw error;
    }
  }

  /**
   * Resolves once the first content is there.
   *
   * @param preview - its plan, where it was just made
   * @throws ApiError for every failure before it; the signal's reason when the caller has left
   */
  async stream(call: CompletionCall, preview?: Preview): Promise<CompletionStream> {
    const open = await this.desk.open(call, preview);
    try {
      return await this.answer(call, open, (attempt) => this.flow(attempt, open));
    } catch (error) {
      open.account.close(error);
      throw error;
    }
  }

  private async whole(attempt: Attempt, { account }: OpenCall): Promise<CompletionReply> {
    const { call, candidate } = attempt;
    const { text, value, headers } = await this.adapterOf(candidate.deployment).complete(attempt.request);
    attempt.timers.stop();
    call.report.upstreamMs = attempt.elapsedMs();
    const usage = readUsage(value['usage'], value['service_tier']);
    const reasoningTokens = readReasoningTokens(value['usage'], usage?.completionTokens ?? 0);
    attempt.trace?.came(value);
    this.ended(attempt, account, {
      usage,
      reasoningTokens,
      delivered: usage === undefined ? deliveredIn(value) : '',
    });
    this.gate.completed(attempt, usage);
    const cost = priceOf(usage, candidate.deployment.prices);
    return { text: finalText(text, candidate.model.name, cost), headers };
  }

  private async flow(attempt: Attempt, { account }: OpenCall): Promise<CompletionStream> {
    const { call, timers, candidate } = attempt;
    const { model, deployment } = candidate;
    const upstream = await this.adapterOf(deployment).stream(attempt.request);
    const events = await holdHead(deployment.upstream.name, upstream.events);
    timers.progressed();
    call.report.upstreamMs = attempt.elapsedMs();
    this.gate.begun(attempt);
    this.observer.attemptShows(attempt);
    const writer = new ChunkWriter({
      model: model.name,
      wantsUsage: wantsUsage(call.request),
      came: attempt.trace?.came,
      ...(deployment.prices && { prices: deployment.prices }),
    });
    const ended = (error?: unknown): void => {
      const { usage, reasoningTokens, delivered } = writer;
      this.ended(attempt, account, {
        usage,
        reasoningTokens,
        delivered: usage === undefined ? delivered.text : '',
        error,
      });
      this.over(attempt, error);
      account.close(error);
      call.ended(error);
    };
    return { text: relay({ events, timers, writer, caller: call.signal, ended }), headers: upstream.headers };
  }

  private answer<T>(call: CompletionCall, open: OpenCall, ask: (attempt: Attempt) => Promise<T>): Promise<T> {
    const { plan, gate, sequence, account } = open;
    return sequence.answer(async (turn) => {
      const { model, deployment } = turn.candidate;
      const attempt = this.gate.begin(turn, call, gate.take());
      call.report.model = model.name;
      call.report.provider = deployment.upstream.name;
      call.report.route = plan.reasonFor(model);
      attempt.trace?.routed(call.report.route);
      call.report.queueMs = open.queueMs();
      try {
        return await ask(attempt);
      } catch (error) {
        attempt.timers.stop();
        if (error instanceof LateSendError) {
          account.unsent(attempt);
          attempt.trace?.unsent();
          this.gate.abandoned(attempt);
        } else {
          this.ended(attempt, account, { delivered: '', error, ...usageOf(error) });
          this.over(attempt, error);
          gate.failed(turn.candidate, error, plan.isOnly(turn.candidate));
        }
        throw error;
      }
    });
  }

  private ended(attempt: Attempt, account: CallAccount, end: AttemptEnd): void {
    account.ended(attempt, end);
    this.observer.attemptEnded(attempt, end);
  }

  /** What the fleet learns of an attempt's end. A reader that is too slow is no failure of the provider's. */
  private over(attempt: Attempt, error: unknown): void {
    const { call, timers } = attempt;
    const isFailure = error instanceof UpstreamFailure && !timers.hasExpiredOnHold && !call.signal.aborted;
    if (error === undefined) this.gate.ended(attempt);
    else if (isFailure) this.gate.failed(attempt, error);
    else this.gate.abandoned(attempt);
  }

  private adapterOf({ upstream }: Deployment): ProviderAdapter {
    return this.adapters[upstream.kind];
  }
}

function finalText(text: string, model: string, cost: number | undefined): string {
  return editObject(text, {
    model: JSON.stringify(model),
    usage: (usage) => pricedUsage(usage, cost),
  });
}

/** An answer that was of no use was paid for all the same. */
function usageOf(error: unknown): Pick<AttemptEnd, 'usage' | 'reasoningTokens'> {
  const told = error instanceof UpstreamFailure ? error.usage : undefined;
  const usage = readUsage(told);
  return { usage, reasoningTokens: readReasoningTokens(told, usage?.completionTokens ?? 0) };
}
