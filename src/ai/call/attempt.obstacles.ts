import type { Obstacle } from '../route/obstacle.js';
import type { Candidate } from '../route/route.plan.js';
import type { UpstreamFailure } from '../upstream/upstream-failure.js';

/** A candidate that is at its rate limit, its place in the plan, and for how long, ms; 0: a probe may end it at any time. */
export interface Limited {
  readonly candidate: Candidate;
  readonly at: number;
  readonly waitMs: number;
}

/** Why another model answers after this failure. */
export function detourOf({ code, blame }: UpstreamFailure): Obstacle['detour'] {
  if (code === 'context_length_exceeded') return 'context';
  return blame === 'key' && code === 'insufficient_quota' ? 'quota' : 'error';
}

/** It has no room now, and may have it within the deadline. */
export function willHaveRoom({ detour, error }: Obstacle): boolean {
  return detour === 'busy' && error.isRetryable !== false;
}

/** For how long it stands, at least as far as anybody knows, ms; 0: a probe may end it at any time. */
export function standsForMs({ error, isProbed }: Obstacle): number {
  return isProbed === true ? 0 : (error.retryAfterMs ?? 0);
}

/** None where it is not a rate limit, or nobody knows for how long. */
export function limitedFor(place: Omit<Limited, 'waitMs'>, obstacle: Obstacle): readonly Limited[] {
  const { code, retryAfterMs } = obstacle.error;
  const isLimited = obstacle.detour === 'cooldown' && code === 'rate_limit_exceeded' && retryAfterMs !== undefined;
  return isLimited ? [{ ...place, waitMs: standsForMs(obstacle) }] : [];
}
