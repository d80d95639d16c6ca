import type { ModelSettings } from '../../config/index.js';
import { ApiError } from '../../http/index.js';
import type { Catalogue, Deployment } from '../catalogue/catalogue.js';
import type { QuotaNeed } from '../fleet/index.js';
import type { ProviderAdapter } from '../upstream/provider.adapter.js';
import type { JsonObject } from '../wire/json-value.js';
import { type ContextNeed, fits, surelyFits } from './context.fit.js';
import { type ChainRequest, type KeyRule, type Link, modelChain } from './model.chain.js';
import type { Obstacle } from './obstacle.js';
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
    const [first] = plan.candidates;
    if (first !== undefined) this.keys.took(first.deployment);
    return plan;
  }

  /** What `plan()` would answer; nothing comes of it. */
  async preview(request: PlanRequest): Promise<RoutePlan> {
    const { links, obstacles } = modelChain(this.catalogue, this.keys.isWorth, request);
    const known = [...obstacles];
    const [asked = ''] = request.names;
    const sorted = await this.byContext(links, request, known);
    const candidates = sorted.flatMap((link) => this.sayable(link, request.body, known));
    return new RoutePlan(asked, this.byQuota(candidates, request, known), known);
  }

  /** Models that are too small go last: a count is an estimate, and the provider is the judge of it. */
  private async byContext(links: readonly Link[], request: PlanRequest, known: Obstacle[]): Promise<readonly Link[]> {
    const need: ContextNeed = { ...request, promptTokens: undefined };
    if (links.length < 2 || links.every(({ model }) => surelyFits(model, need))) return links;
    const large: Link[] = [];
    const small: Link[] = [];
    for (const link of links) {
      const promptTokens = await request.countPrompt(link.model);
      (fits(link.model, { ...need, promptTokens }) ? large : small).push(link);
    }
    const [first] = links;
    if (large.length > 0 && first !== undefined && small.includes(first)) known.push(tooSmall(first.model.name));
    return [...large, ...small];
  }

  private sayable({ model, deployments }: Link, body: JsonObject, known: Obstacle[]): readonly Candidate[] {
    const rotated = this.keys.rotate(deployments);
    return rotated.flatMap((deployment) => {
      const fault = this.untranslatable(model, deployment, body);
      if (fault === undefined) return [{ model, deployment }];
      known.push({ detour: 'error', error: fault });
      return [];
    });
  }

  private untranslatable(model: ModelSettings, deployment: Deployment, body: JsonObject): ApiError | undefined {
    const refused = model.supportsTemperature ? undefined : temperatureIn(body);
    const found = refused ?? this.adapterOf(deployment).untranslatable(body);
    if (found === undefined) return undefined;
    const { param, why } = found;
    return new ApiError('unprocessable', `${model.name} at ${deployment.provider}: ${param} ${why}`, { param });
  }

  private byQuota(candidates: readonly Candidate[], request: PlanRequest, known: Obstacle[]): readonly Candidate[] {
    const low = candidates.filter((each) => this.keys.isNearlyUsed(each.deployment, quotaNeed(each, request)));
    const [first] = candidates;
    if (first === undefined || low.length === 0 || low.length === candidates.length) return candidates;
    if (low.includes(first)) known.push(nearlyUsed(first.deployment));
    return [...candidates.filter((candidate) => !low.includes(candidate)), ...low];
  }
}

function tooSmall(model: string): Obstacle {
  const message = `the prompt does not fit the context window of ${model}`;
  return { detour: 'context', error: new ApiError('context_length_exceeded', message, { param: 'messages' }) };
}

function nearlyUsed({ provider }: Deployment): Obstacle {
  return {
    detour: 'quota',
    error: new ApiError('rate_limit_exceeded', `the quota bought from ${provider} is nearly used`),
  };
}

/** Models that reason by default answer 400 to any other value than 1 (their vendors' migration notes). */
function temperatureIn(body: JsonObject): { readonly param: string; readonly why: string } | undefined {
  for (const param of ['temperature', 'top_p']) {
    const value = body[param];
    if (value !== undefined && value !== null && value !== 1) return { param, why: 'is not supported by this model' };
  }
  return undefined;
}
