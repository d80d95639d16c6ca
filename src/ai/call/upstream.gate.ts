import { Inject, Injectable } from '@nestjs/common';
import { AI_OPTIONS, type AiOptions } from '../ai.options.js';
import type { Deployment } from '../catalogue/catalogue.js';
import { Fleet, type QuotaNeed } from '../fleet/index.js';
import { KeyService } from '../keys/key.service.js';
import type { Obstacle } from '../route/obstacle.js';
import { coolingDown, keyIsOut } from '../route/obstacles.js';
import { quotaNeed } from '../route/quota.need.js';
import type { Candidate } from '../route/route.plan.js';
import type { UpstreamHeaders } from '../upstream/retry-after.js';
import type { UpstreamFailure } from '../upstream/upstream-failure.js';
import { Attempt } from './attempt.js';
import type { AttemptQuota } from '../quota/attempt.quota.js';
import type { Turn } from './attempt.ports.js';
import type { AttemptLimits } from './attempt.timers.js';
import { maxOutputTokensOf } from './chat-request.js';
import type { CompletionCall } from './completion-call.js';
import { CompletionObserver } from './completion.observer.js';
import type { Usage } from './cost.js';

/** Lets calls pass to the deployments by what the fleet knows of them, and tells the fleet how the calls went. */
@Injectable()
export class UpstreamGate {
  constructor(
    private readonly fleet: Fleet,
    private readonly keys: KeyService,
    private readonly observer: CompletionObserver,
    @Inject(AI_OPTIONS) private readonly options: AiOptions,
  ) {}

  /** Undefined: it may be called. Without side effects. */
  obstacleAt({ deployment }: Candidate): Obstacle | undefined {
    const parking = this.fleet.keys.parkingOf(deployment.upstream.keyId);
    if (parking !== undefined) return keyIsOut(deployment, parking);
    const standing = this.fleet.standings.of(deployment.id);
    const isFree = standing.state === 'closed' || (standing.state === 'half-open' && standing.retryAfterMs === 0);
    return isFree ? undefined : coolingDown(deployment, standing);
  }

  /** As `obstacleAt()`, right before a call: a deployment that is tried again after an outage lets one call of the fleet pass. */
  async enter(candidate: Candidate): Promise<Obstacle | undefined> {
    const obstacle = this.obstacleAt(candidate);
    if (obstacle !== undefined) return obstacle;
    const { standings } = this.fleet;
    const { id } = candidate.deployment;
    if (standings.of(id).state === 'closed' || (await standings.claimProbe(id))) return undefined;
    return coolingDown(candidate.deployment, standings.of(id));
  }

  /** It was entered, and will not be called after all. */
  forgo({ deployment }: Candidate): void {
    this.fleet.standings.letGo(deployment.id);
  }

  /** An attempt begins now. It is in flight until its clocks are stopped. */
  begin(turn: Turn, call: CompletionCall, quota: AttemptQuota): Attempt {
    const { deployment, model } = turn.candidate;
    // Also where it is not the plan's first: a fallback's keys have their turns as well.
    this.keys.took(deployment);
    this.fleet.keys.spent(deployment.upstream.keyId, { requests: 1 });
    const told = this.fleet.limits.begun(deployment.id, needOf(turn, call));
    const over = this.observer.inFlight.begin(deployment.id, model.name);
    const place = { candidate: turn.candidate, quota };
    const attempt = new Attempt(call, place, this.limitsOf(turn, call), (headers) => {
      told();
      this.heard(deployment, headers);
    });
    attempt.timers.onStop(() => {
      told();
      over();
    });
    return attempt;
  }

  /** The clocks of an attempt: the last candidate may take all the time that is left. */
  limitsOf({ candidate, remainingMs, isLast }: Turn, call: CompletionCall): AttemptLimits {
    const { model, deployment } = candidate;
    const provider = deployment.upstream.name;
    const limits = { provider, totalMs: remainingMs, idleMs: model.timeouts.idleMs };
    if (isLast) return limits;
    // Whoever may take over needs time as well.
    return { firstTokenMs: Math.min(this.patienceFor(candidate, call), Math.round(remainingMs / 2)), ...limits };
  }

  /** The headers of an answer, good or bad. */
  heard({ id }: Deployment, headers: UpstreamHeaders): void {
    this.fleet.limits.told(id, headers);
  }

  /** A whole answer is there. */
  completed(attempt: Attempt, usage: Usage | undefined): void {
    const { candidate } = attempt;
    const tookMs = attempt.elapsedMs();
    this.fleet.standings.succeeded(candidate.deployment.id, { tookMs });
    if (usage === undefined) return;
    this.fleet.latencies.answered(candidate.model.name, tookMs, usage.completionTokens);
  }

  /** The first content of a stream is there: whoever waited for this probe may go on. */
  begun(attempt: Attempt): void {
    const { model, deployment } = attempt.candidate;
    const tookMs = attempt.elapsedMs();
    this.fleet.latencies.streamed(model.name, tookMs);
    if (this.fleet.standings.of(deployment.id).state !== 'closed') {
      this.fleet.standings.succeeded(deployment.id, { tookMs });
    }
  }

  /** A stream came to its regular end. */
  ended(attempt: Attempt): void {
    this.fleet.standings.succeeded(attempt.candidate.deployment.id, { tookMs: attempt.elapsedMs() });
  }

  failed(attempt: Attempt, failure: UpstreamFailure): void {
    const { candidate, call } = attempt;
    const { deployment } = candidate;
    this.observer.attemptFailed(call, failure);
    if (failure.blame === 'upstream' && !this.isImpatience(attempt)) this.strike(attempt, failure);
    else this.fleet.standings.letGo(deployment.id, { tookMs: attempt.elapsedMs() });
    if (failure.blame === 'key') this.keys.failed(deployment.upstream, failure);
  }

  /** It was ended for a reason that says nothing of the provider: the caller left. */
  abandoned(attempt: Attempt): void {
    this.fleet.standings.letGo(attempt.candidate.deployment.id, { tookMs: attempt.elapsedMs() });
  }

  /** What the provider has counted is known, of a whole answer or of a part of one. */
  billed(
    { deployment }: Candidate,
    { promptTokens, completionTokens }: Pick<Usage, 'promptTokens' | 'completionTokens'>,
    costUsd: number | undefined,
  ): void {
    this.fleet.keys.spent(deployment.upstream.keyId, {
      tokens: promptTokens + completionTokens,
      ...(costUsd !== undefined && { costUsd }),
    });
  }

  private strike(attempt: Attempt, failure: UpstreamFailure): void {
    const { model, deployment } = attempt.candidate;
    const tookMs = attempt.elapsedMs();
    const { code, retryAfterMs } = failure;
    this.fleet.standings.failed(deployment.id, { code, tookMs, ...(retryAfterMs !== undefined && { retryAfterMs }) });
    if (attempt.timers.expired === 'first-token') {
      this.fleet.latencies.timedOut(model.name, attempt.call.request.stream === true ? 'stream' : 'json', tookMs);
    }
  }

  /** A caller that gives a model less time than it takes must not put it out for everybody. */
  private isImpatience(attempt: Attempt): boolean {
    if (attempt.timers.expired !== 'total') return false;
    const firstTokenMs = this.fleet.latencies.firstTokenLimitMs(attempt.candidate.model.name);
    return attempt.elapsedMs() < Math.min(firstTokenMs, this.options.requestDeadlineMs * 0.9);
  }

  private patienceFor({ model }: Candidate, { request }: CompletionCall): number {
    const { latencies } = this.fleet;
    if (request.stream === true) return latencies.firstTokenLimitMs(model.name);
    const asked = maxOutputTokensOf(request);
    return latencies.answerLimitMs(
      model.name,
      asked === 0 ? model.maxOutputTokens : Math.min(asked, model.maxOutputTokens),
    );
  }
}

function needOf({ candidate }: Turn, { request, bodyText }: CompletionCall): QuotaNeed {
  return quotaNeed(candidate, { bodyLength: bodyText.length, maxOutputTokens: maxOutputTokensOf(request) });
}
