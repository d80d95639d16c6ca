/**
 * The numbers of the client's side of the algorithm, ms where not said otherwise. LOCK_LIMITS are chosen for this beat: a spec says
 * how.
 */
export const CLIENT_RULES = {
  /** Between two signs of life of a process that waits for a key. */
  beatMs: 500,
  /** A grant with less than this left is renewed before its work starts (R4). */
  minimumLeftMs: 200,
  /** How many of the oldest waiters, and how many of the others in turn, one beat asks about. */
  sampleSize: 32,
  /** How long acquires of a token that was given up are refused. */
  tombstoneMs: 60_000,
  /** How long a leave is repeated until it is answered. */
  farewellMs: 60_000,
  /** Until an unanswered renewal is sent again. */
  renewalRetryMs: 250,
  /** Renewals that are due so soon go with this beat. */
  beatSlackMs: 50,
  /** Sends remembered per key; see CounterHistory. */
  historyLength: 6,
} as const;

/** By how much two clocks may differ over a lease: 1 % and 2 ms. */
export function driftMs(leaseMs: number): number {
  return leaseMs * 0.01 + 2;
}

/** The last moment at which a lease confirmed by a command sent at `sentAt` is surely still ours. */
export function validUntil(sentAt: number, leaseMs: number): number {
  return sentAt + leaseMs - driftMs(leaseMs);
}
