import type { ConnectionLimits } from './connection-limits.js';
import type { Drain } from './drain.js';
import type { ErrorReport } from './error.filter.js';

export interface HttpOptions {
  /** Largest accepted request body, bytes. */
  readonly bodyLimitBytes: number;
  /** Whose X-Forwarded-For counts: false, true, a hop count, or addresses and CIDRs. */
  readonly trustProxy: boolean | number | readonly string[];
  /** Origins whose scripts may call; `*` = any; empty = none. */
  readonly corsOrigins: readonly string[];
  /** True: only loopback Host names are answered, against DNS rebinding. */
  readonly loopbackHostsOnly: boolean;
  readonly drain: Drain;
  readonly report: ErrorReport;
  readonly limits: ConnectionLimits;
}
