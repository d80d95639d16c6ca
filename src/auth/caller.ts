import type { BudgetSettings, LimitSettings, Scope, Tier } from '../config/index.js';

/** Who calls: set on the request by the guard, read with `@CurrentCaller()`. Never holds the key. */
export interface Caller {
  readonly id: string;
  readonly tier: Tier;
  readonly scopes: readonly Scope[];
  /** Share under contention. */
  readonly weight: number;
  readonly limits: LimitSettings;
  readonly budget?: BudgetSettings;
  /** Callers of one group are given each other's cached answers. */
  readonly cacheGroup?: string;
}
