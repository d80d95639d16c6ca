import { ApiError } from '../../http/index.js';
import type { Deployment } from '../catalogue/catalogue.js';
import type { Obstacle } from './obstacle.js';

/** A deployment that has failed lately. */
export function coolingDown({ provider, model }: Deployment, retryAfterMs: number): Obstacle {
  const message = `${model} at ${provider} has failed lately and is left alone for a while`;
  return {
    detour: 'cooldown',
    error: new ApiError('overloaded', message, { retryAfterMs: Math.max(1, retryAfterMs) }),
  };
}

/** A key that is used up, or that its provider does not take. */
export function keyIsOut({ provider }: Deployment, { reason }: { readonly reason: 'quota' | 'refused' }): Obstacle {
  return reason === 'quota'
    ? { detour: 'quota', error: new ApiError('insufficient_quota', `the quota bought from ${provider} is used up`) }
    : { detour: 'error', error: new ApiError('upstream_auth', `${provider} refused this service's credentials`) };
}
