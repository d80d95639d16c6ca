import type { Obstacle } from '../route/obstacle.js';
import type { Candidate } from '../route/route.plan.js';
import type { UpstreamFailure } from '../upstream/upstream-failure.js';

/** A candidate that is at its rate limit, its place in the plan, and for how long, ms. */
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

/** None where it is not a rate limit, or nobody knows for how long. */
export function limitedFor(place: Omit<Limited, 'waitMs'>, { detour, error }: Obstacle): readonly Limited[] {
  const { code, retryAfterMs } = error;
  const isLimited = detour === 'cooldown' && code === 'rate_limit_exceeded' && retryAfterMs !== undefined;
  return isLimited ? [{ ...place, waitMs: retryAfterMs }] : [];
}
