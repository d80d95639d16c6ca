/** Budgets are kept in these, which are whole. */
export const MICRO_PER_USD = 1_000_000;

/** USD as the micro-dollars that are booked, rounded up: calls that cost less than half of one would never use a budget up otherwise. */
export function microUsdOf(costUsd: number): number {
  // Costs are exact to a thousandth of a micro-dollar; the product is not.
  return Math.ceil(Number((costUsd * MICRO_PER_USD).toFixed(3)));
}
