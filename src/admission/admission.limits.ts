/** What both admission stores do alike. The scripts repeat these numbers in prelude.lua; a spec compares them. */
export interface AdmissionLimits {
  /** Buckets of a calendar's ring, */
  readonly ring: number;
  /** of which so many have a sum of their own, */
  readonly group: number;
  /** in so many groups. */
  readonly groups: number;
  /** At most so many leases end, and so many waiters are let in, in one command. */
  readonly rounds: number;
  /** With more flows than this waiting, the expectation of a new waiter is to come last. */
  readonly crowd: number;
  /** A flow with so many waiters is expected to go on as it does ... */
  readonly backlog: number;
  /** ... and one with fewer to send so many times as many calls as wait now, at most. */
  readonly sparse: number;
  /** How long a process that pumps stays the one that does without a command, ms. */
  readonly pumperMs: number;
  /** How long an acquire with a cancelled id is refused, ms. */
  readonly tombstoneMs: number;
  /** How long what a flow used is remembered at least, once it waits no longer, ms: as long as the longest window. */
  readonly eraMs: number;
  /** How long keys are kept beyond what is known to be needed, ms. */
  readonly slackMs: number;
  /** How long budgets, and what is reserved of them, are kept, ms: more than any period. */
  readonly budgetMs: number;
  /** How long a call is taken to last while none has ended yet, ms. */
  readonly guessMs: number;
}

export const ADMISSION_LIMITS: AdmissionLimits = Object.freeze({
  ring: 640,
  group: 10,
  groups: 64,
  rounds: 64,
  crowd: 128,
  backlog: 4,
  sparse: 8,
  pumperMs: 1_500,
  tombstoneMs: 30_000,
  eraMs: 60_000,
  slackMs: 60_000,
  budgetMs: 3_456_000_000,
  guessMs: 1_000,
});
