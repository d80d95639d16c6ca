import type { LockMode } from '../../src/lock/index.js';
import type { LockFleet } from './lock-fleet.js';
import type { LockWorker, Section } from './lock-worker.js';

/** A wish of several keys that fails also lets go of what it has, and each of that takes two calls to the store at most. */
const TOLD_SLACK_MS = 4_000;

/** One key of one section. */
interface Held {
  readonly key: string;
  readonly fence: number;
  readonly mode: LockMode;
  readonly worker: string;
  readonly from: number;
  readonly until: number;
}

export interface Circumstances {
  /** When the store lost data, µs of the wall clock, which is also the floor of its fences. */
  readonly losses?: readonly number[];
  /** False where every command may be lost by a failover: then only the guarded state is judged, not who held what. */
  readonly keepsData?: boolean;
}

/** Everything that must not be in what the processes of a fleet told. */
export function judge(fleet: LockFleet, { losses = [], keepsData = true }: Circumstances = {}): readonly string[] {
  const epochOf = (fence: number): number => losses.filter((at) => at <= fence).length;
  const held = heldKeys(fleet.sections);
  return [
    ...[...byKey(held).values()].flatMap((ofKey) => [
      ...repeatedFences(ofKey),
      ...(keepsData ? [...overlaps(ofKey, epochOf), ...fencesOutOfOrder(ofKey, epochOf)] : []),
    ]),
    ...(keepsData ? disturbedReaders(fleet.sections, epochOf) : []),
    ...fleet.workers.flatMap(toldLate),
  ];
}

/** The longest time in which no section began on the key, between two moments; ms. */
export function longestGap(sections: readonly Section[], key: string, span: { from: number; until: number }): number {
  const begins = sections.filter(({ holds }) => holds.some((hold) => hold.key === key)).map(({ from }) => from);
  const marks = [span.from, ...begins, span.until].filter((at) => at >= span.from && at <= span.until);
  marks.sort((one, other) => one - other);
  return marks.reduce((longest, mark, index) => Math.max(longest, mark - (marks[index - 1] ?? mark)), 0);
}

function heldKeys(sections: readonly Section[]): readonly Held[] {
  return sections.flatMap(({ holds, mode, worker, from, until }) =>
    holds.map(({ key, fence }) => ({ key, fence, mode, worker, from, until })),
  );
}

function byKey(held: readonly Held[]): ReadonlyMap<string, readonly Held[]> {
  const groups = new Map<string, Held[]>();
  for (const one of held.toSorted((earlier, later) => earlier.from - later.from)) {
    const group = groups.get(one.key);
    if (group === undefined) groups.set(one.key, [one]);
    else group.push(one);
  }
  return groups;
}

/** More at once than the mode allows, each by its own word, under one state of the store. */
function overlaps(held: readonly Held[], epochOf: (fence: number) => number): readonly string[] {
  const findings: string[] = [];
  let open: Held[] = [];
  for (const next of held) {
    open = open.filter(({ until }) => until >= next.from);
    const beside = open.filter(({ fence }) => epochOf(fence) === epochOf(next.fence));
    if (!mayJoin(next, beside)) findings.push(`too many at once: ${[...beside, next].map(describe).join(' | ')}`);
    open.push(next);
  }
  return findings;
}

function mayJoin(next: Held, beside: readonly Held[]): boolean {
  if (beside.length === 0) return true;
  const all = [...beside, next];
  if (all.some(({ mode }) => mode === 'exclusive')) return false;
  const permits = all.map(({ mode }) => (typeof mode === 'object' ? mode.permits : Infinity));
  return all.length <= Math.min(...permits);
}

function repeatedFences(held: readonly Held[]): readonly string[] {
  const seen = new Set<number>();
  return held.filter(({ fence }) => seen.size === seen.add(fence).size).map((one) => `a fence twice: ${describe(one)}`);
}

/** Of exclusive holders, who come one after the other, whoever begins later has the higher fence. */
function fencesOutOfOrder(held: readonly Held[], epochOf: (fence: number) => number): readonly string[] {
  const alone = held.filter(({ mode }) => mode === 'exclusive');
  return alone.flatMap((next, index) => {
    const before = alone[index - 1];
    if (before === undefined || before.fence < next.fence || epochOf(before.fence) !== epochOf(next.fence)) return [];
    return [`fences fell: ${describe(before)}, then ${describe(next)}`];
  });
}

function disturbedReaders(sections: readonly Section[], epochOf: (fence: number) => number): readonly string[] {
  return sections.flatMap(({ worker, end, holds }) => {
    const [hold] = holds;
    if (end?.changedBy === undefined || hold === undefined || !end.isHeldAfter) return [];
    if (epochOf(end.changedBy) !== epochOf(hold.fence)) return [];
    return [`${worker} read "${hold.key}" under ${hold.fence} while ${end.changedBy} wrote it`];
  });
}

/** Whoever waits is served or told by the end of its wait; what its whole process stood still does not count. */
function toldLate({ name, settled, pauses }: LockWorker): readonly string[] {
  return settled.flatMap(({ keys, askedAt, settledAt, waitMs, outcome }) => {
    const paused = pauses.reduce(
      (sum, { from, until }) => sum + Math.max(0, Math.min(until, settledAt) - Math.max(from, askedAt)),
      0,
    );
    const lateMs = settledAt - askedAt - waitMs - paused;
    return lateMs > TOLD_SLACK_MS ? [`${name} heard ${outcome} of ${keys.join()} ${lateMs} ms late`] : [];
  });
}

function describe({ key, fence, mode, worker, from, until }: Held): string {
  return `${worker} ${key} ${JSON.stringify(mode)} fence ${fence} ${from.toFixed(1)}..${until.toFixed(1)}`;
}
