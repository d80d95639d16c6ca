import type { Repeat, SentTurn } from './failover-turns.js';
import type { LoadedCall } from './quota-fleet-load.js';

/** What the servers promise, ms: the longest that a call may take. */
export interface FailoverPolicy {
  readonly deadlineMs: number;
  /** When masters failed. */
  readonly failedAt: readonly number[];
  /** Up to so long before its failure a master may have answered what its replica had not heard of. */
  readonly lagMs: number;
}

/** The client's own time, and that of a machine that runs all this at once. */
const SLACK_MS = 2_000;

/** Every call is answered, by its deadline: as it was asked, or with when to come again. */
export function answerFaults(calls: readonly LoadedCall[], { deadlineMs }: FailoverPolicy): readonly string[] {
  return calls.flatMap(({ status, code, retryAfter, sentAt, endedAt }) => {
    const tookMs = Math.round(endedAt - sentAt);
    const what = `${String(status)} ${code} after ${String(tookMs)} ms`;
    const isRefusal = [409, 429, 503].includes(status);
    return [
      ...(status === 200 || isRefusal ? [] : [what]),
      ...(isRefusal && retryAfter === undefined ? [`${what} without Retry-After`] : []),
      ...(tookMs > deadlineMs + SLACK_MS ? [`${what}: too late`] : []),
    ];
  });
}

/**
 * No window has more than its limit, but for what was let in just before a failure and not replicated, which may be let in anew.
 *
 * @param most calls that the provider saw in any window
 */
export function quotaFaults(
  { most, limit }: { readonly most: number; readonly limit: number },
  calls: readonly LoadedCall[],
  policy: FailoverPolicy,
): readonly string[] {
  const mayBeLost = Math.max(
    0,
    ...policy.failedAt.map((at) => calls.filter((call) => isNear(call, at, policy)).length),
  );
  if (most <= limit + mayBeLost) return [];
  return [`${String(most)} calls in a window of ${String(limit)}; a failover may have lost ${String(mayBeLost)}`];
}

function isNear({ sentAt, endedAt, status }: LoadedCall, failedAt: number, { lagMs }: FailoverPolicy): boolean {
  return status === 200 && sentAt <= failedAt && endedAt >= failedAt - lagMs;
}

/** The same key gives the same answer, unless a failover came between. */
export function repeatFaults(repeats: readonly Repeat[], { failedAt, lagMs }: FailoverPolicy): readonly string[] {
  const isExcused = ({ firstAt, againAt }: Repeat): boolean =>
    failedAt.some((at) => firstAt >= at - lagMs - SLACK_MS && firstAt <= at && againAt >= at);
  return repeats.flatMap((repeat) =>
    repeat.isSame || isExcused(repeat) ? [] : [`a key answered at ${String(repeat.firstAt)} was answered anew`],
  );
}

/** What was acknowledged just before a failure may be lost, where nobody waited for a replica. */
export function excused(sent: readonly SentTurn[], { failedAt, lagMs }: FailoverPolicy): readonly SentTurn[] {
  const isNearOne = (at: number): boolean => failedAt.some((failed) => at <= failed + lagMs && at >= failed - lagMs);
  return sent.map((message) => ({
    ...message,
    isAcknowledged: message.isAcknowledged && !isNearOne(message.answeredAt ?? Infinity),
  }));
}

/** Time from a failure to the end of the first good call that was sent after it, ms. */
export function gapAfter(calls: readonly LoadedCall[], failedAt: number): number {
  const ends = calls.filter(({ status, sentAt }) => status === 200 && sentAt >= failedAt).map(({ endedAt }) => endedAt);
  return Math.round(Math.min(...ends) - failedAt);
}
