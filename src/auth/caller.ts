import type { Scope, Tier } from '../config/index.js';

/** Who calls: set on the request by the guard, read with `@CurrentCaller()`. Never holds the key. */
export interface Caller {
  readonly id: string;
  readonly tier: Tier;
  readonly scopes: readonly Scope[];
  /** Share under contention. */
  readonly weight: number;
}
