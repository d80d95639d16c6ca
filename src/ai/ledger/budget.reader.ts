import type { LimitSettings } from '../../config/index.js';

export const BUDGET_UNITS = ['usd', 'tokens'] as const;
export type BudgetUnit = (typeof BUDGET_UNITS)[number];
export const BUDGET_PERIODS = ['day', 'month'] as const;
export type BudgetPeriod = (typeof BUDGET_PERIODS)[number];

/** What of a caller's budget is used, in whole tokens or in USD. */
export interface BudgetState {
  readonly unit: BudgetUnit;
  readonly period: BudgetPeriod;
  readonly limit: number;
  /** By calls that are over. */
  readonly spent: number;
  /** By calls that are under way. */
  readonly reserved: number;
  /** Unix ms of the first moment of the next period. */
  readonly resetsAt: number;
  /** Calls are refused before it is exceeded. */
  readonly isHard: boolean;
}

/** Where a caller stands in its limits and budgets. */
export interface CallerAllowance {
  readonly limits: Pick<LimitSettings, 'rpm' | 'tpm' | 'concurrency'>;
  readonly budgets: readonly BudgetState[];
}

/** Knows it of every caller. */
export interface BudgetReader {
  /** A caller that is not known has no limits. @throws StoreError */
  allowanceOf(caller: string): Promise<CallerAllowance>;
}

/** Injection token of the BudgetReader. */
export const BUDGET_READER = Symbol('BUDGET_READER');
