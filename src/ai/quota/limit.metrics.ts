import { Inject, Injectable } from '@nestjs/common';
import { Gauge, type Registry } from 'prom-client';
import type { LimitSettings } from '../../config/index.js';
import { METRICS_REGISTRY } from '../../observability/index.js';
import { Catalogue } from '../catalogue/catalogue.js';
import { MINUTE_MS } from './minute.limits.js';

/** The limits of the settings, for what is used to be compared with. Those of callers are not among them: of callers there may be many. */
@Injectable()
export class LimitMetrics {
  readonly #limits: Gauge<'model' | 'deployment' | 'unit'>;

  constructor(@Inject(METRICS_REGISTRY) registry: Registry, catalogue: Catalogue) {
    this.#limits = new Gauge({
      name: 'coordinator_limit',
      help: 'What a model, or one deployment of it, may take over all processes: requests_per_minute, tokens_per_minute or slots',
      labelNames: ['model', 'deployment', 'unit'],
      registers: [registry],
    });
    for (const model of catalogue.served()) {
      this.#show({ model: model.name, deployment: '' }, model.limits);
      for (const { id, limits } of catalogue.reachableDeployments(model)) {
        this.#show({ model: model.name, deployment: id }, limits);
      }
    }
  }

  #show(whose: { readonly model: string; readonly deployment: string }, limits: LimitSettings): void {
    for (const [unit, limit] of Object.entries(pacesOf(limits))) {
      if (Number.isFinite(limit)) this.#limits.set({ ...whose, unit }, limit);
    }
  }
}

/** Of several windows the one with the least for each minute; infinite where nothing is limited. */
function pacesOf({ rpm = Infinity, tpm = Infinity, concurrency = Infinity, windows = [] }: LimitSettings) {
  const least = (pace: number, what: 'requests' | 'tokens'): number =>
    Math.min(pace, ...windows.map(({ windowMs, [what]: limit = Infinity }) => (limit * MINUTE_MS) / windowMs));
  return {
    requests_per_minute: least(rpm, 'requests'),
    tokens_per_minute: least(tpm, 'tokens'),
    slots: concurrency,
  };
}
