import { Inject, Injectable } from '@nestjs/common';
import { ApiError } from '../../http/index.js';
import { Catalogue, type Deployment } from '../catalogue/catalogue.js';
import { chooseRoute, type Route } from '../catalogue/route.js';
import { namesOf, OWN_MEMBERS, wantsUsage } from './chat-request.js';
import { editObject } from '../wire/json-text.js';
import { ChunkWriter } from './chunk.writer.js';
import { holdHead } from './stream.head.js';
import { relay } from './stream.relay.js';
import { ADAPTERS, type Adapters } from '../upstream/adapters.js';
import type { AttemptRequest, ProviderAdapter, UpstreamReply } from '../upstream/provider.adapter.js';
import { UpstreamFailure } from '../upstream/upstream-failure.js';
import { AttemptTimers } from './attempt.timers.js';
import { CompletionObserver } from './completion.observer.js';
import type { CompletionCall } from './completion-call.js';
import { costUsd, pricedUsage, readUsage, type Usage } from './cost.js';

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

interface Attempt {
  readonly request: AttemptRequest;
  readonly timers: AttemptTimers;
  readonly startedAt: number;
}

/** Gets a completion answered: route, then one deployment after the other until one answers or the request is to blame. */
@Injectable()
export class CompletionService {
  constructor(
    private readonly catalogue: Catalogue,
    @Inject(ADAPTERS) private readonly adapters: Adapters,
    private readonly observer: CompletionObserver,
  ) {}

  /** @throws ApiError for every failure; the signal's reason when the caller has left */
  async complete(call: CompletionCall): Promise<CompletionReply> {
    const route = this.route(call);
    return this.firstAnswer(call, route, async ({ request, timers, startedAt }) => {
      const reply = await this.adapterOf(request.deployment).complete(request);
      timers.stop();
      call.report.upstreamMs = performance.now() - startedAt;
      const usage = readUsage(reply.value['usage']);
      record(call, request.deployment, usage);
      return { text: finalText(reply, route, call.report.costUsd), headers: reply.headers };
    });
  }

  /**
   * Resolves once the first content is there.
   *
   * @throws ApiError for every failure before it; the signal's reason when the caller has left
   */
  async stream(call: CompletionCall): Promise<CompletionStream> {
    const route = this.route(call);
    return this.firstAnswer(call, route, async ({ request, timers, startedAt }) => {
      const { deployment } = request;
      const upstream = await this.adapterOf(deployment).stream(request);
      const events = await holdHead(deployment.upstream.name, upstream.events);
      timers.progressed();
      call.report.upstreamMs = performance.now() - startedAt;
      const writer = new ChunkWriter({
        model: route.model.name,
        wantsUsage: wantsUsage(call.request),
        ...(deployment.prices && { prices: deployment.prices }),
      });
      const ended = (error?: unknown): void => {
        // A reader that is too slow is no failure of the provider's.
        if (error instanceof UpstreamFailure && !timers.hasExpiredOnHold) this.observer.attemptFailed(call, error);
        record(call, deployment, writer.usage);
        call.ended(error);
      };
      return { text: relay({ events, timers, writer, caller: call.signal, ended }), headers: upstream.headers };
    });
  }

  private route(call: CompletionCall): Route {
    const { request, caller, isStrict, report } = call;
    const route = chooseRoute(this.catalogue, { names: namesOf(request), caller, isStrict });
    report.model = route.model.name;
    report.route = route.reason;
    return route;
  }

  private async firstAnswer<T>(
    call: CompletionCall,
    route: Route,
    attempt: (attempt: Attempt) => Promise<T>,
  ): Promise<T> {
    const last = route.deployments.at(-1);
    let failure: UpstreamFailure | undefined;
    for (const deployment of route.deployments) {
      const remainingMs = call.deadlineMs - (performance.now() - call.startedAt);
      if (remainingMs <= 0) break;
      const timers = attemptTimers(call, route, { deployment, remainingMs, isLast: deployment === last });
      call.report.attempts += 1;
      call.report.provider = deployment.upstream.name;
      try {
        return await attempt({
          request: attemptRequest(call, route, deployment, timers),
          timers,
          startedAt: performance.now(),
        });
      } catch (error) {
        timers.stop();
        call.signal.throwIfAborted();
        if (!(error instanceof UpstreamFailure) || error.blame === 'request') throw error;
        this.observer.attemptFailed(call, error);
        failure = error;
      }
    }
    throw failure ?? new ApiError('timeout', 'the time this request had is over');
  }

  private adapterOf({ upstream }: Deployment): ProviderAdapter {
    return this.adapters[upstream.kind];
  }
}

function attemptTimers(
  call: CompletionCall,
  { model }: Route,
  { deployment, remainingMs, isLast }: { deployment: Deployment; remainingMs: number; isLast: boolean },
): AttemptTimers {
  // Only where somebody else could take over: for the last one any answer within the deadline is better than none.
  const firstToken = call.request.stream === true && !isLast ? { firstTokenMs: model.timeouts.firstTokenMs } : {};
  const limits = {
    provider: deployment.upstream.name,
    totalMs: remainingMs,
    idleMs: model.timeouts.idleMs,
    ...firstToken,
  };
  return new AttemptTimers(limits, call.signal);
}

function attemptRequest(
  call: CompletionCall,
  { model }: Route,
  deployment: Deployment,
  timers: AttemptTimers,
): AttemptRequest {
  return {
    deployment,
    ...forProvider(call),
    choices: call.request.n ?? 1,
    headers: call.forwardedHeaders,
    requestId: call.requestId,
    connectMs: model.timeouts.connectMs,
    signal: timers.signal,
    progressed: timers.progressed,
  };
}

/** The body less this service's own members. */
function forProvider({ request, bodyText, body }: CompletionCall): Pick<AttemptRequest, 'bodyText' | 'body'> {
  const present = OWN_MEMBERS.filter((name) => request[name] !== undefined);
  if (present.length === 0) return { bodyText, body };
  const own = new Set<string>(present);
  return {
    bodyText: editObject(bodyText, Object.fromEntries(present.map((name) => [name, undefined]))),
    body: Object.fromEntries(Object.entries(body).filter(([name]) => !own.has(name))),
  };
}

function record({ report }: CompletionCall, { prices }: Deployment, usage: Usage | undefined): void {
  if (usage === undefined) return;
  report.promptTokens = usage.promptTokens;
  report.completionTokens = usage.completionTokens;
  if (prices !== undefined) report.costUsd = costUsd(usage, prices);
}

function finalText({ text }: UpstreamReply, { model }: Route, cost: number | undefined): string {
  return editObject(text, {
    model: JSON.stringify(model.name),
    usage: (usage) => pricedUsage(usage, cost),
  });
}
