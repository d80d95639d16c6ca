import type { ModelSettings } from '../../config/index.js';
import { ApiError } from '../../http/index.js';
import type { Catalogue, Deployment } from '../catalogue/catalogue.js';
import type { QuotaNeed } from '../fleet/index.js';
import type { ProviderAdapter, Untranslatable } from '../upstream/provider.adapter.js';
import type { JsonObject } from '../wire/json-value.js';
import { type ContextNeed, fits, surelyFits } from './context.fit.js';
import { type ChainRequest, type KeyRule, type Link, modelChain } from './model.chain.js';
import type { MetObstacle, Obstacle } from './obstacle.js';
import { quotaNeed } from './quota.need.js';
import { type Candidate, RoutePlan } from './route.plan.js';

export interface PlanRequest extends ChainRequest {
  readonly body: JsonObject;
  /** Length of the body's text, characters. */
  readonly bodyLength: number;
  /** 0: no limit was given. */
  readonly maxOutputTokens: number;
  /** Counts the prompt as a model would; asked only where the body's length does not tell. */
  readonly countPrompt: (model: ModelSettings) => Promise<number>;
}

/** What is known of the keys; in memory, so that planning waits for nobody. */
export interface KeyKnowledge {
  readonly isWorth: KeyRule;
  /** So little is left that this call, or the next ones, would meet a rate limit. */
  isNearlyUsed(deployment: Deployment, need: QuotaNeed): boolean;
  /** A model's deployments, of those at one provider the one with the most quota left first, of equals the next in turn. */
  rotate(deployments: readonly Deployment[]): readonly Deployment[];
  /** It has had its turn. */
  took(deployment: Deployment): void;
}

/**
 * Puts the deployments that may answer a request in order, rule by rule: the models (alias, tier, retirement, fallbacks), those with
 * a window for the prompt first, of each the deployments that can be told the request, and last those whose quota is nearly used.
 */
export class RoutePlanner {
  constructor(
    private readonly catalogue: Catalogue,
    private readonly adapterOf: (deployment: Deployment) => ProviderAdapter,
    private readonly keys: KeyKnowledge,
  ) {}

  /** For a call that is going to be made: the first candidate has had its turn. */
  async plan(request: PlanRequest): Promise<RoutePlan> {
    const plan = await this.preview(request);
    this.took(plan);
    return plan;
  }

  /** A call of that plan is going to be made. */
  took({ candidates: [first] }: RoutePlan): void {
    if (first !== undefined) this.keys.took(first.deployment);
  }

  /** What `plan()` would answer; nothing comes of it. */
  async preview(request: PlanRequest): Promise<RoutePlan> {
    const { links, obstacles } = modelChain(this.catalogue, this.keys.isWorth, request);
    const known = [...obstacles];
    const sorted = await this.byContext(links, request, known);
    const all = sorted.flatMap((link) => this.candidatesOf(link));
    const candidates = this.byQuota(this.sayable(all, request.body, known), request, known);
    const [name = ''] = request.names;
    const model = this.catalogue.find(name)?.name ?? name;
    const order = all.flatMap((each) => (each.model.name === model ? [each.deployment.id] : []));
    return new RoutePlan({ name, model, order }, candidates, known);
  }

  /**
   * Models that are too small go last, up to the first that is not: a count is an estimate, and the provider is the judge of it. Those
   * after that one are not counted: nearly always it answers.
   */
  private async byContext(
    links: readonly Link[],
    request: PlanRequest,
    known: MetObstacle[],
  ): Promise<readonly Link[]> {
    if (links.length < 2) return links;
    const need: ContextNeed = { ...request, promptTokens: undefined };
    let leading = 0;
    for (const { model } of links) {
      if (surelyFits(model, need) || fits(model, { ...need, promptTokens: await request.countPrompt(model) })) break;
      leading += 1;
    }
    if (leading === links.length) return links;
    const small = links.slice(0, leading);
    known.push(...small.map(({ model }) => tooSmall(model.name)));
    return [...links.slice(leading), ...small];
  }

  private candidatesOf({ model, deployments }: Link): readonly Candidate[] {
    return this.keys.rotate(deployments).map((deployment) => ({ model, deployment }));
  }

  /** Those that can be told the request. Each kind of provider is asked once. */
  private sayable(candidates: readonly Candidate[], body: JsonObject, known: MetObstacle[]): readonly Candidate[] {
    const faults = new Map<ProviderAdapter, Untranslatable | undefined>();
    const faultAt = (deployment: Deployment): Untranslatable | undefined => {
      const adapter = this.adapterOf(deployment);
      if (!faults.has(adapter)) faults.set(adapter, adapter.untranslatable(body));
      return faults.get(adapter);
    };
    return candidates.filter(({ model, deployment }) => {
      const fault = (model.supportsTemperature ? undefined : temperatureIn(body)) ?? faultAt(deployment);
      if (fault === undefined) return true;
      known.push({ ...unsayable(`${model.name} at ${deployment.provider}`, fault), ...whose({ model, deployment }) });
      return false;
    });
  }

  private byQuota(candidates: readonly Candidate[], request: PlanRequest, known: MetObstacle[]): readonly Candidate[] {
    const low = candidates.filter((each) => this.keys.isNearlyUsed(each.deployment, quotaNeed(each, request)));
    if (low.length === 0 || low.length === candidates.length) return candidates;
    known.push(...low.map((each) => ({ ...nearlyUsed(each.deployment), ...whose(each) })));
    return [...candidates.filter((candidate) => !low.includes(candidate)), ...low];
  }
}

function whose({ model, deployment }: Candidate): Pick<MetObstacle, 'model' | 'deployment'> {
  return { model: model.name, deployment: deployment.id };
}

function unsayable(place: string, { param, why }: Untranslatable): Obstacle {
  return { detour: 'error', error: new ApiError('unprocessable', `${place}: ${param} ${why}`, { param }) };
}

function tooSmall(model: string): MetObstacle {
  const message = `the prompt does not fit the context window of ${model}`;
  return { model, detour: 'context', error: new ApiError('context_length_exceeded', message, { param: 'messages' }) };
}

function nearlyUsed({ provider }: Deployment): Obstacle {
  return {
    detour: 'quota',
    error: new ApiError('rate_limit_exceeded', `the quota bought from ${provider} is nearly used`),
  };
}

/** Models that reason by default answer 400 to any other value than 1 (their vendors' migration notes). */
function temperatureIn(body: JsonObject): Untranslatable | undefined {
  for (const param of ['temperature', 'top_p']) {
    const value = body[param];
    if (value !== undefined && value !== null && value !== 1) return { param, why: 'is not supported by this model' };
  }
  return undefined;
}
