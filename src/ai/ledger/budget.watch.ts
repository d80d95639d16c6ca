import type { BudgetPeriod, BudgetUnit } from './budget.reader.js';

/** Percent of a budget at which somebody is told. */
export const THRESHOLDS = [80, 100] as const;
export type Threshold = (typeof THRESHOLDS)[number];

/** What a call that is over has done to a budget. The amounts are in one unit, whatever it is. */
export interface BudgetChange {
  readonly caller: string;
  readonly unit: BudgetUnit;
  readonly period: BudgetPeriod;
  readonly limit: number;
  /** Spent in this period without the call, and with it, by the store's count. */
  readonly spentBefore: number;
  readonly spentAfter: number;
}

export interface BudgetEvent {
  readonly caller: string;
  readonly unit: BudgetUnit;
  readonly period: BudgetPeriod;
  readonly threshold: Threshold;
  readonly limit: number;
  readonly spent: number;
}

/** Hears of budgets that are nearly or wholly used. Must not throw. */
export interface BudgetObserver {
  crossed(event: BudgetEvent): void;
}

/**
 * Tells of each threshold once a period: the store counts one call after the other, and what was spent only rises, so of all pods one
 * alone sees a threshold passed.
 */
export class BudgetWatch {
  constructor(private readonly observer: BudgetObserver) {}

  spent(change: BudgetChange): void {
    const { caller, unit, period, limit, spentAfter } = change;
    for (const threshold of crossings(change)) {
      this.observer.crossed({ caller, unit, period, threshold, limit, spent: spentAfter });
    }
  }
}

/** The thresholds that lie between the two sums, the lower one first; none of a budget of 0, which nobody can use. */
export function crossings({ limit, spentBefore, spentAfter }: BudgetChange): readonly Threshold[] {
  if (limit <= 0) return [];
  // In hundredths on both sides: 80 % of an odd number of tokens is no whole one.
  return THRESHOLDS.filter(
    (threshold) => spentBefore * 100 < limit * threshold && spentAfter * 100 >= limit * threshold,
  );
}
