import type { ScopeLimits } from '../../src/admission/admission.rules.js';

/** What a strict provider sees of one call; times in ms. */
export interface JudgedCall {
  readonly flow: string;
  readonly arrivedAt: number;
  readonly endedAt: number;
  readonly prompt: number;
  readonly estimated: number;
  readonly actual: number;
}

type Weighted = readonly [atMs: number, weight: number];

/** Where a run broke a limit, in words; empty: nowhere. It shares no code with admission. */
export function overshoots(calls: readonly JudgedCall[], limits: ScopeLimits): readonly string[] {
  const faults: string[] = [];
  const atMost = (what: string, most: number, limit = Infinity): void => {
    if (most > limit) faults.push(`${what}: ${most} of ${limit}`);
  };
  for (const { windowMs, requests, tokens } of limits.windows ?? []) {
    const worst = (weighed: (call: JudgedCall) => readonly Weighted[]): number =>
      mostInWindow(calls.flatMap(weighed), windowMs);
    const label = (what: string): string => `${what} within ${windowMs} ms`;
    atMost(
      label('requests'),
      worst(({ arrivedAt }) => [[arrivedAt, 1]]),
      requests,
    );
    const { tokenRule = 'safe' } = limits;
    if (tokenRule === 'safe' || tokenRule === 'adm') {
      atMost(
        label('estimated tokens'),
        worst(({ arrivedAt, estimated }) => [[arrivedAt, estimated]]),
        tokens,
      );
    }
    if (tokenRule === 'safe' || tokenRule === 'cmp') {
      atMost(
        label('actual tokens'),
        worst(({ endedAt, actual }) => [[endedAt, actual]]),
        tokens,
      );
    }
    if (tokenRule === 'safe') {
      const asItGoes = worst(({ arrivedAt, endedAt, prompt, actual }) => [
        [arrivedAt, prompt],
        [endedAt, actual - prompt],
      ]);
      atMost(label('prompt, then output'), asItGoes, tokens);
    }
  }
  const ends = calls.flatMap(({ arrivedAt, endedAt }): Weighted[] => [
    [arrivedAt, 1],
    [endedAt, -1],
  ]);
  atMost('calls at a time', mostAtOnce(ends), limits.concurrency);
  return faults;
}

/** The most that lies in any half-open window. */
export function mostInWindow(events: readonly Weighted[], windowMs: number): number {
  const ordered = [...events].sort(([one], [other]) => one - other);
  let [from, sum, most] = [0, 0, 0];
  for (const [at, weight] of ordered) {
    sum += weight;
    for (let first = ordered[from]; first !== undefined && at - first[0] >= windowMs; first = ordered[from]) {
      sum -= first[1];
      from += 1;
    }
    most = Math.max(most, sum);
  }
  return most;
}

function mostAtOnce(events: readonly Weighted[]): number {
  // What ends at a time ends before what begins at it.
  const ordered = [...events].sort(([one, a], [other, b]) => one - other || a - b);
  let [sum, most] = [0, 0];
  for (const [, weight] of ordered) {
    sum += weight;
    most = Math.max(most, sum);
  }
  return most;
}
