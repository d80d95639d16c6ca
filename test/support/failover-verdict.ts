import type { Repeat, SentTurn } from './failover-turns.js';
import type { LoadedCall } from './quota-fleet-load.js';

/** Monotonic, ms. */
export interface Failure {
  readonly from: number;
  readonly until: number;
}

/** What the servers promise, ms: the longest that a call may take. */
export interface FailoverPolicy {
  readonly deadlineMs: number;
  /** When masters failed, and when all worked again. */
  readonly failures: readonly Failure[];
  /** Up to so long before its failure a master may have answered what its replica had not heard of. */
  readonly lagMs: number;
}

/** The client's own time, and that of a machine that runs all this at once. */
const SLACK_MS = 2_000;

/**
 * Every call is answered, by its deadline: as it was asked, or with when to come again. A turn whose lock was only just handed over,
 * for two seconds at first, may lose it in the gap, and is told so: its key tells what has become of it.
 */
export function answerFaults(
  calls: readonly LoadedCall[],
  { deadlineMs, failures }: FailoverPolicy,
): readonly string[] {
  return calls.flatMap(({ status, code, retryAfter, sentAt, endedAt }) => {
    const tookMs = Math.round(endedAt - sentAt);
    const what = `${String(status)} ${code} after ${String(tookMs)} ms`;
    const isRefusal = [409, 429, 503].includes(status);
    const isInGap = failures.some(({ from, until }) => endedAt >= from && sentAt <= until);
    return [
      ...(status === 200 || isRefusal || (code === 'lock_lost' && isInGap) ? [] : [what]),
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
    ...policy.failures.map(({ from }) => calls.filter((call) => isNear(call, from, policy)).length),
  );
  if (most <= limit + mayBeLost) return [];
  return [`${String(most)} calls in a window of ${String(limit)}; a failover may have lost ${String(mayBeLost)}`];
}

function isNear({ sentAt, endedAt, status }: LoadedCall, failedAt: number, { lagMs }: FailoverPolicy): boolean {
  return status === 200 && sentAt <= failedAt && endedAt >= failedAt - lagMs;
}

/** The same key gives the same answer, unless that was given when it could not be kept, or just before. */
export function repeatFaults(repeats: readonly Repeat[], { failures, lagMs }: FailoverPolicy): readonly string[] {
  const isExcused = ({ firstAt, againAt }: Repeat): boolean =>
    failures.some(({ from, until }) => firstAt >= from - lagMs && firstAt <= until + SLACK_MS && againAt >= from);
  return repeats.flatMap((repeat) =>
    repeat.isSame || isExcused(repeat) ? [] : [`a key answered at ${String(repeat.firstAt)} was answered anew`],
  );
}

/** What was acknowledged just before a failure may be lost, where nobody waited for a replica. */
export function excused(sent: readonly SentTurn[], { failures, lagMs }: FailoverPolicy): readonly SentTurn[] {
  const isNearOne = (at: number): boolean => failures.some(({ from }) => Math.abs(at - from) <= lagMs);
  return sent.map((message) => ({
    ...message,
    isAcknowledged: message.isAcknowledged && !isNearOne(message.answeredAt ?? Infinity),
  }));
}

/** Time from a failure to the end of the first good call that was sent when others had been refused, if any were; ms. */
export function gapAfter(calls: readonly LoadedCall[], failedAt: number): number {
  const since = calls.filter(({ sentAt }) => sentAt >= failedAt);
  const refusals = since.filter(({ status }) => status === 503).map(({ endedAt }) => endedAt);
  const from = refusals.length === 0 ? failedAt : Math.min(...refusals);
  const ends = since.filter(({ status, sentAt }) => status === 200 && sentAt >= from).map(({ endedAt }) => endedAt);
  return Math.round(Math.min(...ends) - failedAt);
}
