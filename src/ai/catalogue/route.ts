import type { ModelSettings } from '../../config/index.js';
import type { Caller } from '../../auth/index.js';
import { ApiError } from '../../http/index.js';
import type { Catalogue, Deployment } from './catalogue.js';

/** Why the answering model is, or is not, the one that was asked for. */
export type RouteReason = 'requested' | 'alias' | 'tier';

/** The model that answers a request and its deployments, in the order in which they are tried. */
export interface Route {
  readonly model: ModelSettings;
  readonly reason: RouteReason;
  readonly deployments: readonly [Deployment, ...Deployment[]];
}

export interface RouteRequest {
  /** Names or aliases in order of preference, at least one. */
  readonly names: readonly string[];
  readonly caller: Caller;
  /** No substitute: refuse instead. */
  readonly isStrict: boolean;
}

/**
 * Chooses the model: the first name that exists, that the caller's tier may use and that a live deployment serves. When only the
 * tier stands in the way, the tier's first served model takes its place, unless the caller is strict.
 *
 * @throws ApiError model_not_found, model_not_allowed, model_retired: what stood in the way of the first name
 */
export function chooseRoute(catalogue: Catalogue, request: RouteRequest): Route {
  const refusals: ApiError[] = [];
  for (const name of request.names) {
    const found = tryName(catalogue, name, request.caller);
    if (!(found instanceof ApiError)) return found;
    refusals.push(found);
  }
  const isTierOnly = refusals.every(({ code }) => code === 'model_not_allowed');
  const substitute = isTierOnly && !request.isStrict ? tierSubstitute(catalogue, request.caller) : undefined;
  if (substitute !== undefined) return substitute;
  throw refusals[0] ?? new ApiError('invalid_request', 'no model was named', { param: 'model' });
}

function tryName(catalogue: Catalogue, name: string, caller: Caller): Route | ApiError {
  const model = catalogue.find(name);
  if (model === undefined)
    return new ApiError('model_not_found', `the model ${quote(name)} does not exist`, { param: 'model' });
  if (!catalogue.isAllowed(model, caller.tier)) {
    return new ApiError('model_not_allowed', `the model ${model.name} is not part of the tier ${caller.tier}`, {
      param: 'model',
    });
  }
  const [first, ...rest] = catalogue.liveDeployments(model);
  if (first === undefined) return unservedError(catalogue, model);
  return { model, reason: name === model.name ? 'requested' : 'alias', deployments: [first, ...rest] };
}

function unservedError(catalogue: Catalogue, model: ModelSettings): ApiError {
  const shutdown = catalogue.shutdownOf(model);
  if (shutdown === undefined) {
    return new ApiError('model_not_found', `no provider that is in use serves the model ${model.name}`, {
      param: 'model',
    });
  }
  const day = new Date(shutdown.shutdownAt).toISOString().slice(0, 10);
  const successor = shutdown.successor === undefined ? '' : `; its vendor names ${shutdown.successor} as successor`;
  return new ApiError('model_retired', `the model ${model.name} was shut down on ${day}${successor}`, {
    param: 'model',
  });
}

function tierSubstitute(catalogue: Catalogue, caller: Caller): Route | undefined {
  for (const model of catalogue.modelsOf(caller.tier)) {
    const [first, ...rest] = catalogue.liveDeployments(model);
    if (first !== undefined) return { model, reason: 'tier', deployments: [first, ...rest] };
  }
  return undefined;
}

/** A caller's text in a message: bounded, and on one line. */
function quote(name: string): string {
  return JSON.stringify(name.length > 80 ? `${name.slice(0, 80)}…` : name);
}
