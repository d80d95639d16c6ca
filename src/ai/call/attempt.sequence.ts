import { setTimeout as sleep } from 'node:timers/promises';
import { ApiError } from '../../http/index.js';
import type { Obstacle } from '../route/obstacle.js';
import type { Candidate, RoutePlan } from '../route/route.plan.js';
import { UpstreamFailure } from '../upstream/upstream-failure.js';
import type { CompletionCall } from './completion-call.js';
import {
  type AttemptRules,
  type AttemptState,
  type NextStep,
  ATTEMPT_RULES,
  mostMeaningful,
  nextStep,
} from './failure.policy.js';

/** What decides whether a deployment may be called now. */
export interface Gate {
  /** Undefined: it may be called. Asked without side effects, for those further down the plan. */
  obstacleAt(candidate: Candidate): Obstacle | undefined;
  /** As `obstacleAt()`, right before a call: a deployment that is tried again after an outage lets one call of the fleet pass. */
  enter(candidate: Candidate): Promise<Obstacle | undefined>;
  /** It was entered, and will not be called after all. */
  forgo(candidate: Candidate): void;
}

/** One attempt, about to begin. */
export interface Turn {
  readonly candidate: Candidate;
  /** What is left of the request's deadline, ms. */
  readonly remainingMs: number;
  /** Nobody else could answer in its place. */
  readonly isLast: boolean;
}

/** How often a sequence tries, and where it takes time and chance from. */
export interface Pace {
  readonly rules: AttemptRules;
  /** The clock of `CompletionCall.startedAt`, ms. */
  readonly now: () => number;
  /** 0 to 1. */
  readonly random: () => number;
  /** Rejects when the signal aborts. */
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
}

const USUAL_PACE: Pace = {
  rules: ATTEMPT_RULES,
  now: () => performance.now(),
  random: Math.random,
  sleep: (ms, signal) => sleep(ms, undefined, { signal }),
};

type Outcome<T> = { readonly value: T } | { readonly step: NextStep };

/** A candidate that is at its rate limit, its place in the plan, and for how long, ms. */
interface Limited {
  readonly candidate: Candidate;
  readonly at: number;
  readonly waitMs: number;
}

/** Between two looks whether somebody else's probe has ended, ms. */
const LEAST_LOOK_MS = 20;
const LONGEST_LOOK_MS = 200;

/**
 * One request's way through its plan: one attempt after the other, each candidate checked again before it is called, until one
 * answers, the request is to blame, or the attempts or the time it may have are used up.
 */
export class AttemptSequence {
  readonly #failures: UpstreamFailure[] = [];
  /** Passed over because they are at their rate limit. */
  readonly #limited: Limited[] = [];
  /** Larger than the window that was too small for the prompt, tokens. */
  #largerThan = 0;
  readonly #pace: Pace;

  /** @param pace - default: `ATTEMPT_RULES`, the system's clock and chance */
  constructor(
    private readonly call: CompletionCall,
    private readonly plan: RoutePlan,
    private readonly gate: Gate,
    pace: Partial<Pace> = {},
  ) {
    this.#pace = { ...USUAL_PACE, ...pace };
  }

  /** @throws ApiError what went wrong, most telling first; the signal's reason when the caller has left */
  async answer<T>(attempt: (turn: Turn) => Promise<T>): Promise<T> {
    for (const [at, candidate] of this.plan.candidates.entries()) {
      if (!this.isLargeEnough(candidate)) continue;
      const obstacle = await this.gate.enter(candidate);
      if (obstacle !== undefined) {
        this.plan.meet(candidate, obstacle);
        this.#limited.push(...limitedFor({ candidate, at }, obstacle));
        continue;
      }
      if (this.remainingMs() <= 0) {
        this.gate.forgo(candidate);
        break;
      }
      const outcome = await this.tryHere(candidate, at, attempt);
      if ('value' in outcome) return outcome.value;
      if (outcome.step.kind === 'stop') break;
      if (outcome.step.kind === 'enlarge') this.#largerThan = candidate.model.contextWindow;
    }
    const outcome = await this.tryAfterLimit(attempt);
    if (outcome !== undefined && 'value' in outcome) return outcome.value;
    throw this.verdict();
  }

  /**
   * Where nobody could be called and one is only at its rate limit, for no longer than the patience that a retry has too: it is waited for,
   * as by a call that was under way when the limit was met.
   */
  private async tryAfterLimit<T>(attempt: (turn: Turn) => Promise<T>): Promise<Outcome<T> | undefined> {
    const [soonest] = this.#limited.toSorted((a, b) => a.waitMs - b.waitMs);
    if (soonest === undefined || this.call.report.attempts > 0) return undefined;
    const { candidate, at, waitMs } = soonest;
    const { patienceMs, firstBackoffMs } = this.#pace.rules;
    const afterMs = waitMs + firstBackoffMs * this.#pace.random();
    if (waitMs > patienceMs || afterMs >= this.remainingMs()) return undefined;
    const untilMs = this.remainingMs() - patienceMs;
    await this.pause(afterMs);
    if (!(await this.mayReturn(candidate, at, Math.max(0, untilMs)))) return undefined;
    return this.tryHere(candidate, at, attempt);
  }

  private async tryHere<T>(candidate: Candidate, at: number, attempt: (turn: Turn) => Promise<T>): Promise<Outcome<T>> {
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
        await this.pause(step.afterMs);
        const untilMs = error.retryAfterMs === undefined ? undefined : 0;
        if (!(await this.mayReturn(candidate, at, untilMs))) return { step: { kind: 'leave' } };
      }
    }
  }

  /**
   * Whether the deployment may be called again after a wait: others may have taken it out meanwhile. A provider that named the time
   * lets one call pass after it, the probe; where nobody else could answer, the others wait for its end instead of failing.
   *
   * @param untilMs - they wait until so much is left of the deadline, ms; undefined: nobody waits
   */
  private async mayReturn(candidate: Candidate, at: number, untilMs: number | undefined): Promise<boolean> {
    for (;;) {
      const obstacle = await this.gate.enter(candidate);
      if (obstacle === undefined) break;
      const waitMs = obstacle.error.retryAfterMs ?? 0;
      const isCooling = obstacle.detour === 'cooldown';
      const mayWait = untilMs !== undefined && isCooling && waitMs < this.remainingMs() - untilMs;
      if (!mayWait || this.othersAfter(at).length > 0) {
        this.plan.meet(candidate, obstacle);
        return false;
      }
      await this.pause(Math.min(Math.max(waitMs, LEAST_LOOK_MS), this.longestLookMs()));
    }
    if (this.remainingMs() > 0) return true;
    this.gate.forgo(candidate);
    return false;
  }

  /** Random, so that all who wait do not look in the same millisecond. */
  private longestLookMs(): number {
    return LONGEST_LOOK_MS * (0.5 + this.#pace.random() / 2);
  }

  /** @throws the caller's reason to leave, instead of the timer's */
  private async pause(ms: number): Promise<void> {
    const { signal } = this.call;
    try {
      await this.#pace.sleep(ms, signal);
    } finally {
      signal.throwIfAborted();
    }
  }

  private judge(
    candidate: Candidate,
    failure: UpstreamFailure,
    { attemptsHere, others }: { attemptsHere: number; others: readonly Candidate[] },
  ): NextStep {
    this.#failures.push(failure);
    this.plan.meet(candidate, { detour: detourOf(failure), error: failure });
    const state: AttemptState = {
      attempts: this.call.report.attempts,
      attemptsHere,
      remainingMs: this.remainingMs(),
      hasSibling: others.some(({ model }) => model === candidate.model),
      hasOther: others.length > 0,
      isOut: this.gate.obstacleAt(candidate) !== undefined,
    };
    return nextStep(failure, state, this.#pace.random(), this.#pace.rules);
  }

  private othersAfter(at: number): readonly Candidate[] {
    return this.plan.candidates
      .slice(at + 1)
      .filter((candidate) => this.isLargeEnough(candidate) && this.gate.obstacleAt(candidate) === undefined);
  }

  private isLargeEnough({ model }: Candidate): boolean {
    return model.contextWindow > this.#largerThan;
  }

  /** Whole milliseconds: timers fire up to one early, and what is left then is nothing. */
  private remainingMs(): number {
    return Math.floor(this.call.deadlineMs - (this.#pace.now() - this.call.startedAt));
  }

  /** Where only our keys failed, somebody who is left alone for a while is the better news: he will be back. */
  private verdict(): ApiError {
    const failure = mostMeaningful(this.#failures);
    const waiting = failure === undefined || failure.blame === 'key' ? this.plan.soonestBack() : undefined;
    if (failure !== undefined) return waiting ?? failure.afterAllAttempts();
    if (this.remainingMs() > 0) return this.plan.refusal();
    return new ApiError('timeout', 'the time this request had is over', { isRetryable: false });
  }
}

function detourOf({ code, blame }: UpstreamFailure): Obstacle['detour'] {
  if (code === 'context_length_exceeded') return 'context';
  return blame === 'key' && code === 'insufficient_quota' ? 'quota' : 'error';
}

function limitedFor(place: Omit<Limited, 'waitMs'>, { detour, error }: Obstacle): readonly Limited[] {
  const { code, retryAfterMs } = error;
  const isLimited = detour === 'cooldown' && code === 'rate_limit_exceeded' && retryAfterMs !== undefined;
  return isLimited ? [{ ...place, waitMs: retryAfterMs }] : [];
}
