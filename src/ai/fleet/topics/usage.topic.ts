import { type Tier, TIERS } from '../../../config/index.js';
import { FLEET_LIMITS as LIMITS } from '../fleet.limits.js';
import type { Topic } from '../fleet.store.js';
import { fieldsOf, oneOf, wholeNumber } from './fields.js';

export const USAGE_UNITS = ['requests', 'tokens', 'usd'] as const;
/** What a provider sells by; what is left of it is counted in millionths where it is money. */
export type UsageUnit = (typeof USAGE_UNITS)[number];

/** What a provider last said that a key is worth. */
export interface KeyWorth {
  readonly tier: Tier;
  readonly unit: UsageUnit;
  /** Whole units, millionths of a dollar; -1: not told. */
  readonly left: number;
  /** The most that was ever left, -1: not told. */
  readonly most: number;
  /** The last check failed. */
  readonly isStale: boolean;
  readonly checkedAt: number;
}

export type UsageChange =
  | { readonly kind: 'checked'; readonly tier: Tier; readonly unit: UsageUnit; readonly left: number }
  | { readonly kind: 'unreachable' }
  | { readonly kind: 'spent'; readonly unit: UsageUnit; readonly amount: number };

const ASSUMED: KeyWorth = {
  tier: 'free',
  unit: 'requests',
  left: LIMITS.assumedRequests,
  most: -1,
  isStale: true,
  checkedAt: 0,
};

/**
 * What keys are worth: by the last check, less what was spent since. A check that fails leaves the last word as it is and marks it
 * stale; before the first word a key is taken for a free one.
 */
export const usageTopic: Topic<KeyWorth, UsageChange> = {
  name: 'usage',
  mostPending: 8,

  apply(body, change, at) {
    if (change.kind === 'spent') return body && spent(body, change.unit, change.amount);
    if (body !== undefined && at < body.checkedAt) return body;
    if (change.kind === 'unreachable') return { ...(body ?? ASSUMED), isStale: true, checkedAt: at };
    return checked(body, change, at);
  },

  endOf: (_body, now) => now + LIMITS.usageMs,
  isNews: (before, after) => before?.tier !== after?.tier,
  merge(older, newer) {
    if (newer.kind === 'checked' || (newer.kind === 'unreachable' && older.kind === 'unreachable')) return newer;
    if (older.kind !== 'spent' || newer.kind !== 'spent' || older.unit !== newer.unit) return undefined;
    return { ...newer, amount: older.amount + newer.amount };
  },

  format: ({ tier, unit, left, most, isStale, checkedAt }) =>
    [tier, unit, left, most, isStale ? 1 : 0, checkedAt].join('|'),
  parse(text) {
    const [tier, unit, left, most, isStale, checkedAt] = fieldsOf(text, 6);
    return {
      tier: oneOf(TIERS, tier),
      unit: oneOf(USAGE_UNITS, unit),
      left: wholeNumber(left),
      most: wholeNumber(most),
      isStale: isStale === '1',
      checkedAt: wholeNumber(checkedAt),
    };
  },
  encode(change) {
    switch (change.kind) {
      case 'checked':
        return ['C', change.tier, change.unit, change.left].join('|');
      case 'unreachable':
        return 'U';
      case 'spent':
        return ['S', change.unit, change.amount].join('|');
    }
  },
};

function checked(known: KeyWorth | undefined, word: Extract<UsageChange, { kind: 'checked' }>, at: number): KeyWorth {
  const { tier, unit, left } = word;
  const most = known?.unit === unit ? Math.max(known.most, left) : left;
  return { tier, unit, left, most, isStale: false, checkedAt: at };
}

function spent(worth: KeyWorth, unit: UsageUnit, amount: number): KeyWorth {
  if (worth.left <= 0 || worth.unit !== unit || amount === 0) return worth;
  return { ...worth, left: Math.max(0, worth.left - amount) };
}
