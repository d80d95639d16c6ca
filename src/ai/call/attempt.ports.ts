import { setTimeout as sleep } from 'node:timers/promises';
import type { Obstacle } from '../route/obstacle.js';
import type { Candidate } from '../route/route.plan.js';
import { type AttemptRules, ATTEMPT_RULES } from './failure.policy.js';

/** What decides whether a deployment may be called now. */
export interface Gate {
  /** Undefined: it may be called. Asked without side effects, for those further down the plan. */
  obstacleAt(candidate: Candidate): Obstacle | undefined;
  /**
   * As `obstacleAt()`, right before a call: a deployment that is tried again after an outage lets one call of the fleet pass, and one
   * whose limits are used up lets it pass when there is room.
   *
   * @param waitMs - how long room may be waited for; where that is known not to be enough, it is not waited for at all
   */
  enter(candidate: Candidate, waitMs: number): Promise<Obstacle | undefined>;
  /** It has limits of ours, within which calls are let in one after the other: whoever waits is no burden to its provider. */
  isLimited(candidate: Candidate): boolean;
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

export const USUAL_PACE: Pace = {
  rules: ATTEMPT_RULES,
  now: () => performance.now(),
  random: Math.random,
  sleep: (ms, signal) => sleep(ms, undefined, { signal }),
};
