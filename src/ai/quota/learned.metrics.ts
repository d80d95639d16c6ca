import { Inject, Injectable } from '@nestjs/common';
import { Gauge, type Registry } from 'prom-client';
import { METRICS_REGISTRY } from '../../observability/index.js';
import { Catalogue } from '../catalogue/catalogue.js';
import { Fleet } from '../fleet/index.js';
import { minuteLimitsOf } from './minute.limits.js';

const UNITS = ['requests', 'tokens'] as const;

/** Tells which limits are lower than the configured ones, since providers say so. All labels are names of the catalogue. */
@Injectable()
export class LearnedMetrics {
  constructor(
    private readonly catalogue: Catalogue,
    private readonly fleet: Fleet,
    @Inject(METRICS_REGISTRY) registry: Registry,
  ) {
    const lowered = (): readonly LoweredLimit[] => this.lowered();
    new Gauge({
      name: 'coordinator_learned_limit',
      help: 'The limit of a minute that a provider told and that is lower than the configured one, while it holds',
      labelNames: ['deployment', 'unit'],
      registers: [registry],
      collect() {
        this.reset();
        for (const { limit, ...labels } of lowered()) this.set(labels, limit);
      },
    });
  }

  private lowered(): readonly LoweredLimit[] {
    const places = this.catalogue.models.flatMap((model) =>
      this.catalogue.reachableDeployments(model).map((deployment) => ({ model, deployment })),
    );
    return places.flatMap(({ model, deployment }) => {
      const learned = this.fleet.limits.lowered(deployment.id, minuteLimitsOf(this.catalogue, model, deployment));
      return UNITS.flatMap((unit) => {
        const limit = learned?.[unit];
        return limit === undefined ? [] : [{ deployment: deployment.id, unit, limit }];
      });
    });
  }
}

interface LoweredLimit {
  readonly deployment: string;
  readonly unit: (typeof UNITS)[number];
  readonly limit: number;
}
