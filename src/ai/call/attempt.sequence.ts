import { setTimeout as sleep } from 'node:timers/promises';
import { ApiError } from '../../http/index.js';
import type { Obstacle } from '../route/obstacle.js';
import type { Candidate, RoutePlan } from '../route/route.plan.js';
import { UpstreamFailure } from '../upstream/upstream-failure.js';
import type { CompletionCall } from './completion-call.js';
import { type AttemptState, type NextStep, ATTEMPT_RULES, mostMeaningful, nextStep } from './failure.policy.js';

/** What decides whether a deployment may be called now. */
export interface Gate {
  /** Undefined: it may be called. Asked without side effects, for those further down the plan. */
  obstacleAt(candidate: Candidate): Obstacle | undefined;
  /** As `obstacleAt()`, right before a call: a deployment that is tried again after an outage lets one call of the fleet pass. */
  enter(candidate: Candidate): Promise<Obstacle | undefined>;
}

/** One attempt, about to begin. */
export interface Turn {
  readonly candidate: Candidate;
  /** What is left of the request's deadline, ms. */
  readonly remainingMs: number;
  /** Nobody else could answer in its place. */
  readonly isLast: boolean;
}

/**
 * One request's way through its plan: one attempt after the other, each candidate checked again before it is called, until one
 * answers, the request is to blame, or the attempts or the time it may have are used up.
 */
export class AttemptSequence {
  readonly #failures: UpstreamFailure[] = [];
  /** Larger than the window that was too small for the prompt, tokens. */
  #largerThan = 0;

  constructor(
    private readonly call: CompletionCall,
    private readonly plan: RoutePlan,
    private readonly gate: Gate,
    private readonly random: () => number = Math.random,
  ) {}

  /** @throws ApiError what went wrong, most telling first; the signal's reason when the caller has left */
  async answer<T>(attempt: (turn: Turn) => Promise<T>): Promise<T> {
    for (const [at, candidate] of this.plan.candidates.entries()) {
      if (!this.isLargeEnough(candidate)) continue;
      const obstacle = await this.gate.enter(candidate);
      if (obstacle !== undefined) {
        this.plan.meet(obstacle);
        continue;
      }
      const outcome = await this.tryHere(candidate, at, attempt);
      if ('value' in outcome) return outcome.value;
      if (outcome.step.kind === 'stop') break;
      if (outcome.step.kind === 'enlarge') this.#largerThan = candidate.model.contextWindow;
    }
    throw this.verdict();
  }

  private async tryHere<T>(
    candidate: Candidate,
    at: number,
    attempt: (turn: Turn) => Promise<T>,
  ): Promise<{ readonly value: T } | { readonly step: NextStep }> {
    for (let attemptsHere = 1; ; attemptsHere += 1) {
      const others = this.othersAfter(at);
      const remainingMs = this.remainingMs();
      if (remainingMs <= 0) return { step: { kind: 'stop' } };
      this.call.report.attempts += 1;
      try {
        return { value: await attempt({ candidate, remainingMs, isLast: others.length === 0 }) };
      } catch (error) {
        this.call.signal.throwIfAborted();
        if (!(error instanceof UpstreamFailure)) throw error;
        const step = this.judge(candidate, error, { attemptsHere, others });
        if (step.kind !== 'retry') return { step };
        await sleep(step.afterMs, undefined, { signal: this.call.signal }).catch(() => {
          this.call.signal.throwIfAborted();
        });
      }
    }
  }

  private judge(
    candidate: Candidate,
    failure: UpstreamFailure,
    { attemptsHere, others }: { attemptsHere: number; others: readonly Candidate[] },
  ): NextStep {
    this.#failures.push(failure);
    this.plan.meet({ detour: detourOf(failure), error: failure });
    const state: AttemptState = {
      attempts: this.call.report.attempts,
      attemptsHere,
      remainingMs: this.remainingMs(),
      hasSibling: others.some(({ model }) => model === candidate.model),
      hasOther: others.length > 0,
      isOut: this.gate.obstacleAt(candidate) !== undefined,
    };
    return nextStep(failure, state, this.random(), ATTEMPT_RULES);
  }

  private othersAfter(at: number): readonly Candidate[] {
    return this.plan.candidates
      .slice(at + 1)
      .filter((candidate) => this.isLargeEnough(candidate) && this.gate.obstacleAt(candidate) === undefined);
  }

  private isLargeEnough({ model }: Candidate): boolean {
    return model.contextWindow > this.#largerThan;
  }

  private remainingMs(): number {
    return this.call.deadlineMs - (performance.now() - this.call.startedAt);
  }

  private verdict(): ApiError {
    const failure = mostMeaningful(this.#failures);
    if (failure !== undefined) return failure.afterAllAttempts();
    return this.remainingMs() <= 0 ? new ApiError('timeout', 'the time this request had is over') : this.plan.refusal();
  }
}

function detourOf({ code, blame }: UpstreamFailure): Obstacle['detour'] {
  if (code === 'context_length_exceeded') return 'context';
  return blame === 'key' && code === 'insufficient_quota' ? 'quota' : 'error';
}
