import {
  type DeploymentSettings,
  type ModelSettings,
  type ProviderKind,
  type ProviderSettings,
  type Tier,
} from '../../config/index.js';
import { BoundedPatterns, type WordTest } from '../upstream/bounded.patterns.js';

/** A provider behind one key of ours, or the simulator. */
export interface Upstream {
  /** The provider's. */
  readonly name: string;
  /** Unique: the provider's name, with the key's place among its keys where it has several (`openai#2`). No secret. */
  readonly keyId: string;
  readonly kind: ProviderKind;
  readonly baseUrl: string;
  readonly apiKey: string;
  /** Path under baseUrl that tells what the key is worth. */
  readonly usagePath?: string;
  /** Set: Azure's classic URLs with this `api-version`. */
  readonly apiVersion?: string;
  /** How it says that a prompt is too long, besides the usual words. */
  readonly contextErrorPatterns?: WordTest;
}

/** One provider's model behind one key. */
export interface Deployment extends DeploymentSettings {
  /** Unique: `<key id>/<the model's name at the provider>`. */
  readonly id: string;
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
  /** Told once of each of a provider's `contextErrorPatterns` that took too long for a text. Default: nobody is. */
  readonly ranOut?: (provider: string, pattern: string) => void;
}

/** The models this process serves, by name and alias, with the deployments that its keys reach. */
export class Catalogue {
  readonly #upstreams: ReadonlyMap<string, readonly Upstream[]>;
  readonly #byName = new Map<string, ModelSettings>();
  readonly #deployments = new Map<string, readonly Deployment[]>();

  constructor(private readonly options: CatalogueOptions) {
    this.#upstreams = usableUpstreams(options);
    for (const model of options.models) {
      for (const name of [model.name, ...model.aliases]) this.#byName.set(name, model);
      this.#deployments.set(model.name, deploymentsInReach(model, this.#upstreams, options.simulatorUrl));
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
    return this.models.filter((model) => this.reachableDeployments(model).length > 0);
  }

  /** The deployments that can be called now, in the order in which the model prefers them. */
  liveDeployments(model: ModelSettings): readonly Deployment[] {
    const now = this.options.now();
    return this.reachableDeployments(model).filter(({ shutdownAt }) => shutdownAt === undefined || now < shutdownAt);
  }

  /** The latest end among the deployments in reach; undefined while one of them has none. */
  shutdownOf(model: ModelSettings): { readonly shutdownAt: number; readonly successor?: string } | undefined {
    const reachable = this.reachableDeployments(model);
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

  /** All that keys in use reach, those past their end too. */
  deployments(): readonly Deployment[] {
    return [...this.#deployments.values()].flat();
  }

  /** The keys in use, provider by provider. */
  upstreams(): readonly Upstream[] {
    return [...this.#upstreams.values()].flat();
  }

  /** The names of the providers in use. */
  providers(): readonly string[] {
    return [...this.#upstreams.keys()];
  }

  /** The catalogue names of the models that have a deployment at a provider. */
  modelsAt(provider: string): readonly string[] {
    return this.models
      .filter((model) => this.reachableDeployments(model).some(({ upstream }) => upstream.name === provider))
      .map(({ name }) => name);
  }

  /** Those that keys in use reach, past their end or not. */
  reachableDeployments(model: ModelSettings): readonly Deployment[] {
    return this.#deployments.get(model.name) ?? [];
  }
}

function usableUpstreams({
  providers,
  simulatorUrl,
  ranOut = () => undefined,
}: CatalogueOptions): ReadonlyMap<string, readonly Upstream[]> {
  if (simulatorUrl !== undefined) return new Map([['simulator', [simulatorAt(simulatorUrl)]]]);
  const upstreams = new Map<string, readonly Upstream[]>();
  for (const provider of providers) {
    const { name, kind, baseUrl, apiKeys, usagePath, apiVersion } = provider;
    const patterns = new BoundedPatterns(provider.contextErrorPatterns, (pattern) => {
      ranOut(name, pattern);
    });
    const upstreamsOfKeys = apiKeys.map((apiKey, index) => ({
      name,
      keyId: apiKeys.length === 1 ? name : `${name}#${String(index + 1)}`,
      kind,
      baseUrl,
      apiKey,
      ...(usagePath !== undefined && { usagePath }),
      ...(apiVersion !== undefined && { apiVersion }),
      ...(provider.contextErrorPatterns.length > 0 && { contextErrorPatterns: patterns }),
    }));
    if (upstreamsOfKeys.length > 0) upstreams.set(name, upstreamsOfKeys);
  }
  return upstreams;
}

function simulatorAt(baseUrl: string): Upstream {
  return {
    name: 'simulator',
    keyId: 'simulator',
    kind: 'openai',
    baseUrl,
    apiKey: 'simulator',
    usagePath: '/usage',
  };
}

function deploymentsInReach(
  model: ModelSettings,
  upstreams: ReadonlyMap<string, readonly Upstream[]>,
  simulatorUrl: string | undefined,
): readonly Deployment[] {
  const configured = simulatorUrl === undefined ? model.deployments : [simulatedDeployment(model)];
  const reachable = configured.flatMap((deployment) =>
    (upstreams.get(deployment.provider) ?? []).map((upstream) => ({
      ...deployment,
      id: `${upstream.keyId}/${deployment.model}`,
      upstream,
    })),
  );
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
