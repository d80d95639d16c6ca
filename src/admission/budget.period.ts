import type { BudgetPeriod } from './admission.rules.js';

const DAY_MS = 86_400_000;

/** Number of the period that holds this time; it rises by one with each. Days and months are those of UTC. */
export function periodOf(period: BudgetPeriod, ms: number): number {
  if (period === 'day') return Math.floor(ms / DAY_MS);
  const date = new Date(ms);
  return date.getUTCFullYear() * 12 + date.getUTCMonth();
}

/** When the period that holds this time ends, ms. */
export function periodEnd(period: BudgetPeriod, ms: number): number {
  const date = new Date(ms);
  if (period === 'day') return (Math.floor(ms / DAY_MS) + 1) * DAY_MS;
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1);
}
