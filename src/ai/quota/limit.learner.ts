import { Injectable } from '@nestjs/common';
import { AdmissionService, type Scope } from '../../admission/index.js';
import { Catalogue } from '../catalogue/catalogue.js';
import { Fleet, FLEET_LIMITS, type MinuteLimits } from '../fleet/index.js';
import { isOnlyOneOf, MINUTE_MS, minuteLimitsOf } from './minute.limits.js';
import { QuotaScopes } from './quota.scopes.js';

/** A deployment with limits of ours. */
interface LimitedPlace {
  readonly ours: MinuteLimits;
  readonly scopes: readonly Scope[];
}

interface Learned {
  readonly limits: MinuteLimits;
  /** Until then it need not be told again, `performance.now()`. */
  readonly freshUntil: number;
}

/**
 * Has admission go by what providers tell of their own limits, where these are lower than ours: for all processes, until a while after
 * it was told last. It is told to the store when it is lower than before and when half of its time is over, not with every answer. What
 * is told to be higher meanwhile counts from then on: a provider's servers do not always agree.
 *
 * Only what a minute's limit of ours counts: where there is none, there is nothing to be lowered. What is left of a limit is no
 * limit: by that, calls go elsewhere before it is used up.
 */
@Injectable()
export class LimitLearner {
  readonly #places = new Map<string, LimitedPlace>();
  readonly #learned = new Map<string, Learned>();

  constructor(
    catalogue: Catalogue,
    private readonly fleet: Fleet,
    private readonly admission: AdmissionService,
    scopes: QuotaScopes,
  ) {
    for (const model of catalogue.models) {
      for (const deployment of catalogue.reachableDeployments(model)) {
        const ours = minuteLimitsOf(catalogue, model, deployment);
        const ofModel = isOnlyOneOf(catalogue, model) ? scopes.ofModel(model) : undefined;
        const limited = [scopes.ofDeployment(deployment), ofModel];
        const minutes = limited.flatMap((quota) => (quota === undefined ? [] : [quota.scope])).filter(hasMinute);
        if (minutes.length > 0) this.#places.set(deployment.id, { ours, scopes: minutes });
      }
    }
    fleet.limits.onTold = (deployment) => {
      this.#hear(deployment);
    };
  }

  #hear(deployment: string): void {
    const place = this.#places.get(deployment);
    if (place === undefined) return;
    const told = this.fleet.limits.lowered(deployment, place.ours);
    const limits = told && lower(told, this.#recent(deployment));
    if (limits === undefined) return;
    this.#learned.set(deployment, { limits, freshUntil: performance.now() + FLEET_LIMITS.toldMs / 2 });
    for (const scope of place.scopes) {
      void this.admission.learn(scope, [{ windowMs: MINUTE_MS, ...limits }], FLEET_LIMITS.toldMs);
    }
  }

  #recent(deployment: string): MinuteLimits | undefined {
    const known = this.#learned.get(deployment);
    return known !== undefined && performance.now() < known.freshUntil ? known.limits : undefined;
  }
}

function hasMinute({ rules }: Scope): boolean {
  return rules.windows.some(({ windowMs }) => windowMs === MINUTE_MS);
}

/** The lower ones of what is told and what is known; undefined: nothing new. */
function lower(told: MinuteLimits, known: MinuteLimits | undefined): MinuteLimits | undefined {
  if (known === undefined) return told;
  const least = (one = Infinity, other = Infinity): number | undefined =>
    one === Infinity && other === Infinity ? undefined : Math.min(one, other);
  const limits = { requests: least(told.requests, known.requests), tokens: least(told.tokens, known.tokens) };
  return limits.requests === known.requests && limits.tokens === known.tokens ? undefined : limits;
}
