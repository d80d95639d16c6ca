/** What both lock stores do alike. The scripts repeat the first eight in prelude.lua; a spec compares them. */
export interface LockLimits {
  /** First lease of a waiter that is let in: a process that does not answer costs no more. */
  readonly grantMs: number;
  /** A process that gave no sign of life for so long loses its places in the queue, until it asks again. */
  readonly aliveMs: number;
  /** A time without any command that is longer than this does not count while somebody waits ... */
  readonly gapMs: number;
  /** ... by at most so much: nobody could give a sign of life while the store stood still or its clock stepped forward. */
  readonly dampMs: number;
  /** How long the counter of fences outlives the last holder, so that fences rise even if the clock steps back by as much. */
  readonly memoryMs: number;
  /** How long a queue outlives the last command on it. */
  readonly queueMs: number;
  /** How long entries are kept past their end. */
  readonly slackMs: number;
  /** At most so many leases end, and so many waiters are let in, in one command. */
  readonly rounds: number;
  /** An operator sees at most so many holders and waiters of one key. */
  readonly shown: number;
  /** In characters; what is longer is cut. */
  readonly descriptionLength: number;
}

export const LOCK_LIMITS: LockLimits = Object.freeze({
  grantMs: 2_000,
  aliveMs: 1_500,
  gapMs: 700,
  dampMs: 5_000,
  memoryMs: 60_000,
  queueMs: 10_000,
  slackMs: 1_000,
  rounds: 256,
  shown: 100,
  descriptionLength: 200,
});

/** What is kept of a description. */
export function cutDescription(description: string): string {
  // Two code units make one character at most.
  const start = description.slice(0, 2 * LOCK_LIMITS.descriptionLength);
  return Array.from(start).slice(0, LOCK_LIMITS.descriptionLength).join('');
}
