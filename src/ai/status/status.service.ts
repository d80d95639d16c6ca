import { Inject, Injectable } from '@nestjs/common';
import type { ModelSettings } from '../../config/index.js';
import { AI_OPTIONS, type AiOptions } from '../ai.options.js';
import { CompletionObserver } from '../call/completion.observer.js';
import { Catalogue, type Deployment, type Upstream } from '../catalogue/catalogue.js';
import { Fleet } from '../fleet/index.js';
import { minuteLimitsOf } from '../quota/minute.limits.js';
import type { DeploymentStatus, KeyStatus, ModelStatus, PodStatus, Status, UpstreamStatus } from './status.js';

/** What this pod knows of the upstreams, its own and what the others have told. For operators; there is no secret in it. */
@Injectable()
export class StatusService {
  constructor(
    private readonly catalogue: Catalogue,
    private readonly fleet: Fleet,
    private readonly observer: CompletionObserver,
    @Inject(AI_OPTIONS) private readonly options: AiOptions,
  ) {}

  /** All of it, as fresh as the store is. Never rejects: while the store is away, it is what this pod has seen itself. */
  async look(): Promise<Status> {
    await this.fleet.refresh();
    return this.fleet.look(() => ({ pod: this.pod(), keys: this.keys(), models: this.models() }));
  }

  /** Of a provider: as good as its best deployment. */
  stateOf(provider: string): UpstreamStatus {
    const deployments = this.catalogue.deployments().filter(({ upstream }) => upstream.name === provider);
    return this.fleet.look(() => bestOf(deployments.map((deployment) => this.deploymentState(deployment))));
  }

  private pod(): PodStatus {
    const { attempts, requestDeadlineMs, simulatorUrl } = this.options;
    return {
      startedAt: performance.timeOrigin,
      isSimulated: simulatorUrl !== undefined,
      isAlone: this.fleet.isAlone,
      inFlight: this.observer.inFlight.total,
      requestDeadlineMs,
      attempts,
    };
  }

  private keys(): readonly KeyStatus[] {
    return this.catalogue.upstreams().map((upstream) => this.keyStatus(upstream));
  }

  private models(): readonly ModelStatus[] {
    return this.catalogue.served().map((model) => ({
      model: model.name,
      limits: model.limits,
      timeouts: model.timeouts,
      latency: this.fleet.latencies.of(model.name),
      answerLimitMs: this.fleet.latencies.answerLimitMs(model.name, model.maxOutputTokens),
      tokenRatio: this.fleet.tokens.of(model.name),
      deployments: this.catalogue
        .reachableDeployments(model)
        .map((deployment) => this.deploymentStatus(model, deployment)),
    }));
  }

  private keyStatus({ name: provider, keyId: key, kind }: Upstream): KeyStatus {
    const { keys } = this.fleet;
    const deployments = this.catalogue.deployments().filter(({ upstream }) => upstream.keyId === key);
    return {
      provider,
      key,
      kind,
      state: bestOf(deployments.map((deployment) => this.deploymentState(deployment))),
      worth: keys.worthOf(key),
      parking: keys.parkingOf(key),
    };
  }

  private deploymentState({ id, upstream }: Deployment): UpstreamStatus {
    const parking = this.fleet.keys.parkingOf(upstream.keyId);
    if (parking !== undefined) return parking.reason === 'refused' ? 'key refused' : 'quota used up';
    return this.fleet.standings.of(id).state === 'closed' ? 'in use' : 'cooldown';
  }

  private deploymentStatus(model: ModelSettings, deployment: Deployment): DeploymentStatus {
    const { id, upstream, limits, shutdownAt, successor } = deployment;
    return {
      deployment: id,
      provider: upstream.name,
      key: upstream.keyId,
      standing: this.fleet.standings.of(id),
      inFlight: this.observer.inFlight.at(id),
      limits,
      learned: this.fleet.limits.lowered(id, minuteLimitsOf(this.catalogue, model, deployment)),
      rateLimits: this.fleet.limits.of(id),
      shutdownAt,
      successor,
    };
  }
}

/** Of several the best; where there is none, nothing speaks against it. */
function bestOf(states: readonly UpstreamStatus[]): UpstreamStatus {
  return states.find((state) => state === 'in use') ?? states[0] ?? 'in use';
}
