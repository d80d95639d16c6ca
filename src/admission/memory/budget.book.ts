import { ADMISSION_LIMITS } from '../admission.limits.js';
import type { BudgetRule } from '../admission.rules.js';
import type { Booking } from '../admission.store.js';
import { periodOf } from '../budget.period.js';
import type { ScopeTable } from './scope.table.js';

interface OpenBudget {
  readonly rule: BudgetRule;
  readonly name: string;
  readonly period: number;
  readonly before: number;
  spent: number;
}

/** The budgets of a scope at one time. */
export class BudgetBook {
  private readonly budgets: readonly OpenBudget[];
  private isBooked = false;

  constructor(
    private readonly table: ScopeTable,
    private readonly scope: string,
    rules: readonly BudgetRule[],
    private readonly time: number,
  ) {
    this.budgets = rules.map((rule) => this.#open(rule));
  }

  get spent(): readonly number[] {
    return this.budgets.map(({ spent }) => spent);
  }

  /** What this command booked: one for each budget, or none. */
  get bookings(): readonly Booking[] {
    if (!this.isBooked) return [];
    return this.budgets.map(({ rule, before, spent }) => ({ ...rule, spentBefore: before, spentAfter: spent }));
  }

  book(microUsd: number, tokens: number): void {
    for (const budget of this.budgets) budget.spent += budget.rule.unit === 'usd' ? microUsd : tokens;
    this.isBooked ||= microUsd > 0 || tokens > 0;
  }

  /** The first budget that has no room for so much, and what stands against it. */
  refusal(wanted: Amounts, reserved: Amounts): { name: string; cause: 'limit' | 'spent' | 'reserved' } | undefined {
    for (const { rule, name, spent } of this.budgets) {
      const amount = amountOf(rule, wanted);
      if (amount > rule.limit) return { name, cause: 'limit' };
      if (spent + amount > rule.limit) return { name, cause: 'spent' };
      if (spent + amountOf(rule, reserved) + amount > rule.limit) return { name, cause: 'reserved' };
    }
    return undefined;
  }

  finish(): void {
    if (!this.isBooked) return;
    const keptUntil = this.time + ADMISSION_LIMITS.budgetMs;
    for (const { name, period, spent } of this.budgets) {
      this.table.keepBudget(this.scope, name, { budget: { period, spent }, keptUntil });
    }
  }

  #open(rule: BudgetRule): OpenBudget {
    const name = `${rule.unit}:${rule.period}`;
    const period = periodOf(rule.period, this.time);
    const kept = this.table.budgetOf(this.scope, name);
    if (kept === undefined || kept.period < period) return { rule, name, period, before: 0, spent: 0 };
    return { rule, name, period: kept.period, before: kept.spent, spent: kept.spent };
  }
}

export interface Amounts {
  readonly microUsd: number;
  readonly tokens: number;
}

function amountOf({ unit }: BudgetRule, amounts: Amounts): number {
  return unit === 'usd' ? amounts.microUsd : amounts.tokens;
}
