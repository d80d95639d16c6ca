import { Injectable } from '@nestjs/common';
import { Catalogue, type Deployment, type Upstream } from '../catalogue/catalogue.js';
import { Fleet } from '../fleet/index.js';
import type { KeyCard, ParkingCard } from '../fleet/parts/key.book.js';
import type { LatencyCard } from '../fleet/parts/latencies.js';
import type { RateLimitCard } from '../fleet/parts/rate.limits.js';
import type { StandingCard } from '../fleet/parts/standings.js';

export type UpstreamStatus = 'in use' | 'cooldown' | 'key refused' | 'quota used up';

/** One key of ours at a provider. */
export interface KeyStatus {
  readonly provider: string;
  readonly key: string;
  readonly worth: KeyCard | undefined;
  readonly parking: ParkingCard | undefined;
}

export interface DeploymentStatus {
  readonly deployment: string;
  readonly provider: string;
  readonly key: string;
  readonly standing: StandingCard;
  readonly rateLimits: readonly RateLimitCard[];
  /** Unix ms; undefined: its vendor has named no end. */
  readonly shutdownAt: number | undefined;
}

export interface ModelStatus {
  readonly model: string;
  readonly latency: LatencyCard;
  /** By how much the providers count more prompt tokens than this service. */
  readonly tokenRatio: number;
  readonly deployments: readonly DeploymentStatus[];
}

/** What this pod knows of the upstreams, its own and what the others have told. For operators. */
@Injectable()
export class StatusService {
  constructor(
    private readonly catalogue: Catalogue,
    private readonly fleet: Fleet,
  ) {}

  /** Of a provider: as good as its best deployment. */
  stateOf(provider: string): UpstreamStatus {
    const deployments = this.catalogue.deployments().filter((deployment) => deployment.provider === provider);
    const states = deployments.map((deployment) => this.deploymentState(deployment));
    return states.find((state) => state === 'in use') ?? states[0] ?? 'in use';
  }

  keys(): readonly KeyStatus[] {
    return this.catalogue.upstreams().map((upstream) => this.keyStatus(upstream));
  }

  models(): readonly ModelStatus[] {
    return this.catalogue.served().map((model) => ({
      model: model.name,
      latency: this.fleet.latencies.of(model.name),
      tokenRatio: this.fleet.tokens.of(model.name),
      deployments: this.catalogue.reachableDeployments(model).map((deployment) => this.deploymentStatus(deployment)),
    }));
  }

  private deploymentState({ id, upstream }: Deployment): UpstreamStatus {
    const parking = this.fleet.keys.parkingOf(upstream.keyId);
    if (parking !== undefined) return parking.reason === 'refused' ? 'key refused' : 'quota used up';
    return this.fleet.standings.of(id).state === 'closed' ? 'in use' : 'cooldown';
  }

  private keyStatus({ name: provider, keyId: key }: Upstream): KeyStatus {
    const { keys } = this.fleet;
    return { provider, key, worth: keys.worthOf(key), parking: keys.parkingOf(key) };
  }

  private deploymentStatus({ id, provider, upstream, shutdownAt }: Deployment): DeploymentStatus {
    return {
      deployment: id,
      provider,
      key: upstream.keyId,
      standing: this.fleet.standings.of(id),
      rateLimits: this.fleet.limits.of(id),
      shutdownAt,
    };
  }
}
