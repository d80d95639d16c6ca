import type { WindowUsage } from '../../admission/index.js';
import type { RouteReason } from '../route/obstacle.js';

/** What became of a call at the cache: `x-coordinator-cache`. */
export type CacheOutcome = 'hit' | 'miss' | 'joined' | 'bypass';

/** What the service did for one call: response headers, metrics and the log line are made from it. */
export interface CallReport {
  model?: string;
  provider?: string;
  route?: RouteReason;
  attempts: number;
  /** Undefined: it did not come so far. */
  cache?: CacheOutcome;
  /** The request was sent before, and this is the answer that it was given then. */
  isReplay?: true;
  /** How long room was waited for, ms; undefined: it was not asked for. */
  queueMs?: number;
  /** What is used of the caller's own limits. */
  usage?: readonly WindowUsage[];
  /** From sending the answering attempt to its last byte (JSON) or first content (stream), ms. */
  upstreamMs?: number;
  costUsd?: number;
  promptTokens?: number;
  completionTokens?: number;
  /** Why it could not be completed. */
  failure?: unknown;
}
