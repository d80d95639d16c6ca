import type { ApiError } from '../../http/index.js';

/** Why a model, or a deployment of it, did not answer. */
export type Detour = 'tier' | 'quota' | 'busy' | 'cooldown' | 'context' | 'error' | 'retired';

/** `x-coordinator-route`: why the answering model is, or is not, the one that was asked for. */
export type RouteReason = 'requested' | 'alias' | Detour;

/** An obstacle, and in whose way it stood. */
export interface MetObstacle extends Obstacle {
  /** The model's name; of one that does not exist what the caller called it. */
  readonly model: string;
  /** Id; undefined: in the way of all of the model's deployments. */
  readonly deployment?: string;
}

/** What stood in the way of an earlier choice. */
export interface Obstacle {
  /** Undefined: the caller's own fault (a model that does not exist), no reason for a substitute. */
  readonly detour: Detour | undefined;
  /** What the caller is told if nothing else answers. */
  readonly error: ApiError;
  /** One call of the fleet is finding out whether it is over: it may be so long before the error's `retryAfterMs`. */
  readonly isProbed?: boolean;
}
