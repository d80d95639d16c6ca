import { ApiError } from '../../http/index.js';
import type { Deployment } from '../catalogue/catalogue.js';
import type { Obstacle } from './obstacle.js';

/** A deployment that has failed lately, or that is at its provider's rate limit. */
export function coolingDown(
  { provider, model }: Deployment,
  { retryAfterMs, code, state }: { readonly retryAfterMs: number; readonly code?: string; readonly state?: string },
): Obstacle {
  const options = { retryAfterMs: Math.max(1, retryAfterMs) };
  const error =
    code === 'rate_limit_exceeded'
      ? new ApiError(code, `${model} at ${provider} is at its rate limit`, options)
      : new ApiError('overloaded', `${model} at ${provider} has failed lately and is left alone for a while`, options);
  return { detour: 'cooldown', error, ...(state === 'half-open' && { isProbed: true }) };
}

/** A key that is used up, or that its provider does not take. */
export function keyIsOut({ provider }: Deployment, { reason }: { readonly reason: 'quota' | 'refused' }): Obstacle {
  return reason === 'quota'
    ? { detour: 'quota', error: new ApiError('insufficient_quota', `the quota bought from ${provider} is used up`) }
    : { detour: 'error', error: new ApiError('upstream_auth', `${provider} refused this service's credentials`) };
}
