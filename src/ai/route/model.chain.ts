import type { Caller } from '../../auth/index.js';
import type { ModelSettings } from '../../config/index.js';
import { ApiError } from '../../http/index.js';
import type { Catalogue, Deployment } from '../catalogue/catalogue.js';
import type { Detour, MetObstacle } from './obstacle.js';

export interface ChainRequest {
  /** Names or aliases in order of preference, at least one. */
  readonly names: readonly string[];
  /** The names are the caller's whole list: the configuration adds nothing to it. */
  readonly isExplicit: boolean;
  readonly caller: Caller;
  /** No substitute: refuse instead. */
  readonly isStrict: boolean;
}

/** A model that may answer, with the deployments that may be called for it. */
export interface Link {
  readonly model: ModelSettings;
  readonly deployments: readonly [Deployment, ...Deployment[]];
}

export interface ModelChain {
  /** In the order in which they are tried. */
  readonly links: readonly Link[];
  /** What kept earlier choices out, in the order of the choices. */
  readonly obstacles: readonly MetObstacle[];
}

/** Whether a deployment's key is worth this model: the key's own tier decides, by `Catalogue.isAllowed()`. */
export type KeyRule = (deployment: Deployment, model: ModelSettings) => boolean;

/**
 * The models that may answer a request: the named ones, then the successor of one that is retired, then the configured fallbacks.
 * Every one of them is checked against the caller's tier and the tiers of our keys. Where only tiers stand in the way, the caller's
 * first served model takes their place, unless the caller is strict.
 */
export function modelChain(catalogue: Catalogue, isWorth: KeyRule, request: ChainRequest): ModelChain {
  const builder = new ChainBuilder(catalogue, isWorth, request.caller);
  for (const name of request.names) builder.add(name);
  if (request.isStrict) return builder;
  if (!request.isExplicit) builder.addFallbacks();
  if (builder.links.length === 0) builder.addSubstitutes();
  return builder;
}

class ChainBuilder implements ModelChain {
  readonly links: Link[] = [];
  readonly obstacles: MetObstacle[] = [];
  readonly #seen = new Set<ModelSettings>();
  readonly #retired: string[] = [];

  constructor(
    private readonly catalogue: Catalogue,
    private readonly isWorth: KeyRule,
    private readonly caller: Caller,
  ) {}

  add(name: string): void {
    const model = this.catalogue.find(name);
    if (model === undefined) this.#refuse(name, 'model_not_found', `the model ${quote(name)} does not exist`);
    else this.#try(model);
  }

  addFallbacks(): void {
    const named = this.links.map(({ model }) => model);
    for (const successor of this.#retired) this.#tryQuietly(successor);
    for (const model of named) for (const fallback of model.fallbacks) this.#tryQuietly(fallback);
  }

  /** Whoever asked for more than the tier gives gets what it gives. */
  addSubstitutes(): void {
    if (!this.obstacles.every(({ detour }) => detour === 'tier')) return;
    for (const model of this.catalogue.modelsOf(this.caller.tier)) {
      this.#tryQuietly(model.name);
      if (this.links.length > 0) return;
    }
  }

  #tryQuietly(name: string): void {
    const model = this.catalogue.find(name);
    if (model === undefined) return;
    const known = this.obstacles.length;
    this.#try(model);
    // Nobody asked for it: why it can't serve is no answer to anybody.
    this.obstacles.length = known;
  }

  #try(model: ModelSettings): void {
    if (this.#seen.has(model)) return;
    this.#seen.add(model);
    const { tier } = this.caller;
    if (!this.catalogue.isAllowed(model, tier)) {
      this.#refuse(model.name, 'model_not_allowed', `the model ${model.name} is not part of the tier ${tier}`, 'tier');
      return;
    }
    const live = this.catalogue.liveDeployments(model);
    if (live.length === 0) {
      this.#refuseUnserved(model);
      return;
    }
    const deployments = live.filter((deployment) => this.isWorth(deployment, model));
    if (!isFilled(deployments)) {
      this.#refuse(
        model.name,
        'model_not_allowed',
        `no key of this service has a tier that includes ${model.name}`,
        'tier',
      );
      return;
    }
    this.links.push({ model, deployments });
  }

  #refuseUnserved(model: ModelSettings): void {
    const shutdown = this.catalogue.shutdownOf(model);
    if (shutdown === undefined) {
      this.#refuse(model.name, 'model_not_found', `no provider that is in use serves the model ${model.name}`);
      return;
    }
    const { shutdownAt, successor } = shutdown;
    if (successor !== undefined) this.#retired.push(successor);
    const day = new Date(shutdownAt).toISOString().slice(0, 10);
    const advice = successor === undefined ? '' : `; its vendor names ${successor} as successor`;
    this.#refuse(model.name, 'model_retired', `the model ${model.name} was shut down on ${day}${advice}`, 'retired');
  }

  #refuse(model: string, code: ApiError['code'], message: string, detour?: Detour): void {
    this.obstacles.push({ model, detour, error: new ApiError(code, message, { param: 'model' }) });
  }
}

function isFilled<Item>(items: readonly Item[]): items is readonly [Item, ...Item[]] {
  return items.length > 0;
}

/** A caller's text in a message: bounded, and on one line. */
function quote(name: string): string {
  return JSON.stringify(name.length > 80 ? `${name.slice(0, 80)}…` : name);
}
