import { ApiError } from '../../http/index.js';
import type { Obstacle } from '../route/obstacle.js';
import type { Candidate, RoutePlan } from '../route/route.plan.js';
import { LateSendError } from '../upstream/sending.js';
import { UpstreamFailure } from '../upstream/upstream-failure.js';
import { detourOf, type Limited, limitedFor, standsForMs, willHaveRoom } from './attempt.obstacles.js';
import { type Gate, type Pace, type Turn, USUAL_PACE } from './attempt.ports.js';
import type { CompletionCall } from './completion-call.js';
import { type AttemptState, type NextStep, mostMeaningful, nextStep } from './failure.policy.js';

/** One way through the candidates. */
interface Round {
  /** Places in the plan, in the order in which they are tried. */
  readonly places: Iterable<number>;
  /** How long room may be waited for at a place. */
  readonly waitMs: (at: number) => number;
  /** Filled with the places that have no room now, and may have it later. */
  readonly busy: number[];
}

type Outcome<T> = { readonly value: T } | { readonly step: NextStep };

const STOPPED = { step: { kind: 'stop' } } as const;

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
    const busy: number[] = [];
    const first: Round = {
      places: this.plan.candidates.keys(),
      waitMs: (at) => (busy.length === 0 ? this.patienceMs(at) : this.busyWaitMs(at)),
      busy,
    };
    // Whoever has room is asked first; then, in the same order, those whose room must be waited for.
    const last: Round = { places: busy, waitMs: () => this.remainingMs(), busy: [] };
    const outcome =
      (await this.tryAll(first, attempt)) ?? (await this.tryAll(last, attempt)) ?? (await this.tryAfterLimit(attempt));
    if (outcome !== undefined && 'value' in outcome) return outcome.value;
    throw this.verdict();
  }

  /** @returns undefined: nobody has answered, and others may be tried */
  private async tryAll<T>(
    { places, waitMs, busy }: Round,
    attempt: (turn: Turn) => Promise<T>,
  ): Promise<Outcome<T> | undefined> {
    for (const at of places) {
      const candidate = this.plan.candidates[at];
      if (candidate === undefined || !this.isLargeEnough(candidate)) continue;
      const obstacle = await this.gate.enter(candidate, waitMs(at));
      if (obstacle !== undefined) {
        this.plan.meet(candidate, obstacle);
        if (willHaveRoom(obstacle)) busy.push(at);
        this.#limited.push(...limitedFor({ candidate, at }, obstacle));
        continue;
      }
      if (this.remainingMs() <= 0) {
        this.gate.forgo(candidate);
        return STOPPED;
      }
      const outcome = await this.tryHere({ candidate, at, untilMs: undefined }, attempt);
      if ('value' in outcome) return outcome;
      if (outcome.step.kind === 'stop') return STOPPED;
      if (outcome.step.kind === 'enlarge') this.#largerThan = candidate.model.contextWindow;
    }
    return undefined;
  }

  private busyWaitMs(at: number): number {
    return Math.min(this.plan.candidates[at]?.model.busyWaitMs ?? 0, this.remainingMs());
  }

  /**
   * Where nobody could be called and one is only at its rate limit, it is waited for, as by a call that was under way when the limit
   * was met: where it has limits of ours, up to the deadline, as for any other room in them; else for no longer than the patience
   * that a retry has too.
   */
  private async tryAfterLimit<T>(attempt: (turn: Turn) => Promise<T>): Promise<Outcome<T> | undefined> {
    const [soonest] = this.#limited.toSorted((a, b) => a.waitMs - b.waitMs);
    if (soonest === undefined || this.call.report.attempts > 0) return undefined;
    const { candidate, at, waitMs } = soonest;
    const { firstBackoffMs } = this.#pace.rules;
    const patienceMs = this.gate.isLimited(candidate) ? this.remainingMs() : this.#pace.rules.patienceMs;
    const afterMs = waitMs + firstBackoffMs * this.#pace.random();
    if (waitMs > patienceMs || afterMs >= this.remainingMs()) return undefined;
    const untilMs = this.remainingMs() - patienceMs;
    await this.pause(afterMs);
    if (!(await this.mayReturn(candidate, at, Math.max(0, untilMs)))) return undefined;
    return this.tryHere({ candidate, at, untilMs: Math.max(0, untilMs) }, attempt);
  }

  /** `untilMs`: that of `mayReturn()`, for a call that its connection makes late. */
  private async tryHere<T>(
    { candidate, at, untilMs }: { candidate: Candidate; at: number; untilMs: number | undefined },
    attempt: (turn: Turn) => Promise<T>,
  ): Promise<Outcome<T>> {
    let waitsUntilMs = untilMs;
    for (let attemptsHere = 1; ; attemptsHere += 1) {
      const others = this.othersAfter(at);
      const remainingMs = this.remainingMs();
      if (remainingMs <= 0) return STOPPED;
      this.call.report.attempts += 1;
      try {
        return { value: await attempt({ candidate, remainingMs, isLast: others.length === 0 }) };
      } catch (error) {
        this.call.signal.throwIfAborted();
        if (error instanceof LateSendError) {
          // Its connection has taken too long: it was no attempt, and is let in once more.
          this.call.report.attempts -= 1;
          attemptsHere -= 1;
          if (!(await this.mayReturn(candidate, at, waitsUntilMs))) return { step: { kind: 'leave' } };
          continue;
        }
        if (!(error instanceof UpstreamFailure)) throw error;
        const step = this.judge(candidate, error, { attemptsHere, others });
        if (step.kind !== 'retry') return { step };
        await this.pause(step.afterMs);
        waitsUntilMs = error.retryAfterMs === undefined ? undefined : 0;
        if (!(await this.mayReturn(candidate, at, waitsUntilMs))) return { step: { kind: 'leave' } };
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
      const obstacle = await this.gate.enter(candidate, this.patienceMs(at));
      if (obstacle === undefined) break;
      const waitMs = standsForMs(obstacle);
      const isCooling = obstacle.detour === 'cooldown';
      const mayWait = untilMs !== undefined && isCooling && waitMs < this.remainingMs() - untilMs;
      if (!mayWait || this.othersAfter(at).length > 0) {
        this.plan.meet(candidate, obstacle);
        this.#limited.push(...limitedFor({ candidate, at }, obstacle));
        return false;
      }
      await this.pause(this.lookMs(obstacle));
    }
    if (this.remainingMs() > 0) return true;
    this.gate.forgo(candidate);
    return false;
  }

  /** Where nobody else could answer, room is waited for as long as there is time. */
  private patienceMs(at: number): number {
    return this.othersAfter(at).length > 0 ? this.busyWaitMs(at) : this.remainingMs();
  }

  /** Until an obstacle is looked at again. Random, so that all who wait do not look in the same millisecond. */
  private lookMs(obstacle: Obstacle): number {
    const longestMs = LONGEST_LOOK_MS * (0.5 + this.#pace.random() / 2);
    return obstacle.isProbed === true ? longestMs : Math.min(Math.max(standsForMs(obstacle), LEAST_LOOK_MS), longestMs);
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
    if (failure !== undefined) return waiting ?? this.plan.budgetRefusal(failure) ?? failure.afterAllAttempts();
    if (this.remainingMs() > 0) return this.plan.refusal();
    // Room was waited for to the end: nothing was sent.
    if (waiting !== undefined) return waiting;
    return new ApiError('timeout', 'the time this request had is over', { isRetryable: false });
  }
}
