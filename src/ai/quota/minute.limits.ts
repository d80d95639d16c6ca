import type { LimitSettings, ModelSettings } from '../../config/index.js';
import type { Catalogue, Deployment } from '../catalogue/catalogue.js';
import type { MinuteLimits } from '../fleet/index.js';

export const MINUTE_MS = 60_000;

/** What may be used of a deployment in a minute, by the settings: its own limits, and those of a model that no other one serves. */
export function minuteLimitsOf(catalogue: Catalogue, model: ModelSettings, { limits }: Deployment): MinuteLimits {
  const all = [limits, ...(isOnlyOneOf(catalogue, model) ? [model.limits] : [])].flatMap(minutesIn);
  return { requests: least(all.map(({ requests }) => requests)), tokens: least(all.map(({ tokens }) => tokens)) };
}

/** One deployment is all that a model has: what its provider says of one it says of the other. */
export function isOnlyOneOf(catalogue: Catalogue, model: ModelSettings): boolean {
  return catalogue.reachableDeployments(model).length === 1;
}

function minutesIn({ rpm, tpm, windows = [] }: LimitSettings): readonly MinuteLimits[] {
  return [{ requests: rpm, tokens: tpm }, ...windows.filter(({ windowMs }) => windowMs === MINUTE_MS)];
}

function least(limits: readonly (number | undefined)[]): number | undefined {
  const known = limits.filter((limit) => limit !== undefined);
  return known.length === 0 ? undefined : Math.min(...known);
}
