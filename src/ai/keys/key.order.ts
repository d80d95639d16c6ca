import type { KeyCard } from '../fleet/index.js';

/** What decides when a key has its turn. */
export interface KeyTurn {
  /** What is left of its rate limits, 0 to 1. */
  readonly limitShare: number;
  /** What is left of the most that it ever had, 0 to 1. */
  readonly quotaShare: number;
  /** Undefined: nobody was asked. */
  readonly worth: KeyCard | undefined;
  /** When it last had its turn, counted in turns. */
  readonly turn: number;
}

/** Who has this much less than the one with the most is as good as that: it is about what the calls under way take. */
const MARGIN = 0.01;

/**
 * The keys of one provider, the one with the most quota left first: by their rate limits, and by what is left in numbers where all of them are
 * told in one unit, otherwise by the share of what each had. Of those within 1 % of the first, the one whose turn is longest ago.
 */
export function byQuotaLeft<Key extends KeyTurn>(keys: readonly Key[]): readonly Key[] {
  const most = mostLeft(keys);
  const cards = keys.map((key) => ({ key, left: leftOf(key, most) }));
  const best = Math.max(...cards.map(({ left }) => left));
  const rank = (left: number): number => (left >= best * (1 - MARGIN) ? best : left);
  return cards.toSorted((a, b) => rank(b.left) - rank(a.left) || a.key.turn - b.key.turn).map(({ key }) => key);
}

/** Undefined: they can't be compared by numbers. */
function mostLeft(keys: readonly KeyTurn[]): number | undefined {
  const told = keys.flatMap(({ worth }) => (worth?.remaining === undefined ? [] : [worth]));
  const [first] = told;
  if (first === undefined || told.length < keys.length || told.some(({ unit }) => unit !== first.unit))
    return undefined;
  return Math.max(...told.map(({ remaining = 0 }) => remaining));
}

function leftOf({ limitShare, quotaShare, worth }: KeyTurn, most = 0): number {
  const ofMost = most === 0 || worth?.remaining === undefined ? quotaShare : worth.remaining / most;
  return Math.min(limitShare, ofMost);
}
