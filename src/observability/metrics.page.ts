import { Inject, Injectable } from '@nestjs/common';
import { Registry } from 'prom-client';
import { METRICS_REGISTRY, processMetrics } from './metrics.registry.js';

/** Media type of {@link MetricsPage.render}. */
export const METRICS_CONTENT_TYPE = Registry.PROMETHEUS_CONTENT_TYPE;

/** The text that Prometheus scrapes. */
@Injectable()
export class MetricsPage {
  private readonly processRegistry = processMetrics();

  constructor(@Inject(METRICS_REGISTRY) private readonly registry: Registry) {}

  /** The application's metrics, then the process's, in Prometheus' text format 0.0.4. */
  async render(): Promise<string> {
    return `${await this.registry.metrics()}\n${await this.processRegistry.metrics()}`;
  }
}
