import {
  type CalledKind,
  type DeploymentSettings,
  isCalledKind,
  type ModelSettings,
  type ProviderSettings,
  type Tier,
} from '../../config/index.js';

/** A provider that is in use: it has a key, or is the simulator. */
export interface Upstream {
  readonly name: string;
  readonly kind: CalledKind;
  readonly baseUrl: string;
  readonly apiKey: string;
  /** Path under baseUrl that tells what the key is worth. */
  readonly usagePath?: string;
}

/** One provider's model behind one key. */
export interface Deployment extends DeploymentSettings {
  readonly upstream: Upstream;
}

export interface CatalogueOptions {
  readonly models: readonly ModelSettings[];
  readonly providers: readonly ProviderSettings[];
  readonly tiers: Readonly<Record<Tier, readonly string[]>>;
  /** Set: every model is served by the simulator at this base URL and by nothing else. */
  readonly simulatorUrl?: string;
  /** Unix milliseconds; deployments end by it. */
  readonly now: () => number;
}

/** The models this process serves, by name and alias, with the deployments that its keys reach. */
export class Catalogue {
  readonly #upstreams: ReadonlyMap<string, Upstream>;
  readonly #byName = new Map<string, ModelSettings>();
  readonly #deployments = new Map<string, readonly Deployment[]>();

  constructor(private readonly options: CatalogueOptions) {
    this.#upstreams = usableUpstreams(options);
    for (const model of options.models) {
      for (const name of [model.name, ...model.aliases]) this.#byName.set(name, model);
      this.#deployments.set(model.name, reachableDeployments(model, this.#upstreams, options.simulatorUrl));
    }
  }

  get models(): readonly ModelSettings[] {
    return this.options.models;
  }

  find(nameOrAlias: string): ModelSettings | undefined {
    return this.#byName.get(nameOrAlias);
  }

  /** The models that a provider in use serves, or has served until its end. */
  served(): readonly ModelSettings[] {
    return this.models.filter((model) => this.reachable(model).length > 0);
  }

  /** The deployments that can be called now, in the order in which the model prefers them. */
  liveDeployments(model: ModelSettings): readonly Deployment[] {
    const now = this.options.now();
    return this.reachable(model).filter(({ shutdownAt }) => shutdownAt === undefined || now < shutdownAt);
  }

  /** The latest end among the deployments in reach; undefined while one of them has none. */
  shutdownOf(model: ModelSettings): { readonly shutdownAt: number; readonly successor?: string } | undefined {
    const reachable = this.reachable(model);
    let last: { shutdownAt: number; successor?: string } | undefined;
    for (const { shutdownAt, successor } of reachable) {
      if (shutdownAt === undefined) return undefined;
      if (last === undefined || shutdownAt > last.shutdownAt) {
        last = successor === undefined ? { shutdownAt } : { shutdownAt, successor };
      }
    }
    return last;
  }

  isAllowed(model: ModelSettings, tier: Tier): boolean {
    return this.options.tiers[tier].includes(model.name);
  }

  /** The tier's models in the order of the configuration. */
  modelsOf(tier: Tier): readonly ModelSettings[] {
    return this.options.tiers[tier].flatMap((name) => this.#byName.get(name) ?? []);
  }

  /** The providers in use. */
  upstreams(): readonly Upstream[] {
    return [...this.#upstreams.values()];
  }

  /** The catalogue names of the models that have a deployment at a provider. */
  modelsAt(provider: string): readonly string[] {
    return this.models
      .filter((model) => this.reachable(model).some(({ upstream }) => upstream.name === provider))
      .map(({ name }) => name);
  }

  private reachable(model: ModelSettings): readonly Deployment[] {
    return this.#deployments.get(model.name) ?? [];
  }
}

function usableUpstreams({ providers, simulatorUrl }: CatalogueOptions): ReadonlyMap<string, Upstream> {
  if (simulatorUrl !== undefined) {
    const simulator: Upstream = {
      name: 'simulator',
      kind: 'openai',
      baseUrl: simulatorUrl,
      apiKey: 'simulator',
      usagePath: '/usage',
    };
    return new Map([[simulator.name, simulator]]);
  }
  const upstreams = new Map<string, Upstream>();
  for (const { name, kind, baseUrl, apiKey, usagePath } of providers) {
    if (apiKey === undefined || !isCalledKind(kind)) continue;
    upstreams.set(name, { name, kind, baseUrl, apiKey, ...(usagePath !== undefined && { usagePath }) });
  }
  return upstreams;
}

function reachableDeployments(
  model: ModelSettings,
  upstreams: ReadonlyMap<string, Upstream>,
  simulatorUrl: string | undefined,
): readonly Deployment[] {
  const configured = simulatorUrl === undefined ? model.deployments : [simulatedDeployment(model)];
  const reachable = configured.flatMap((deployment) => {
    const upstream = upstreams.get(deployment.provider);
    return upstream === undefined ? [] : [{ ...deployment, upstream }];
  });
  return model.prefer === 'cheapest' ? reachable.toSorted((a, b) => priceRank(a) - priceRank(b)) : reachable;
}

/** Plays the model at the price of its first deployment, so that costs look like the real thing. */
function simulatedDeployment(model: ModelSettings): DeploymentSettings {
  const prices = model.deployments[0]?.prices;
  return { provider: 'simulator', model: model.name, limits: {}, ...(prices && { prices }) };
}

/** An unpriced deployment may cost anything: it comes last. */
function priceRank({ prices }: Deployment): number {
  return prices === undefined ? Number.POSITIVE_INFINITY : prices.input + prices.output;
}
