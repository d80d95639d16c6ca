import { type DynamicModule, Global, Module } from '@nestjs/common';
import { Registry } from 'prom-client';
import { HttpMetrics } from './http.metrics.js';
import { LOGGER, type Logger } from './logger.js';
import { MetricsController } from './metrics.controller.js';
import { MetricsPage } from './metrics.page.js';
import { METRICS_REGISTRY } from './metrics.registry.js';
import { type MetricsAddress, MetricsServer } from './metrics.server.js';

export interface ObservabilityModuleOptions {
  readonly logger: Logger;
  /** A second port for the metrics alone; undefined: `GET /metrics` is a route of the application. */
  readonly metricsAddress?: MetricsAddress;
}

/**
 * Gives every module the {@link LOGGER} and the {@link METRICS_REGISTRY}, and serves the metrics.
 *
 * @example
 * imports: [ObservabilityModule.forRoot({ logger: createLogger({ level, secrets: secretsOf(settings) }) })]
 */
@Global()
@Module({
  providers: [MetricsPage, HttpMetrics, { provide: METRICS_REGISTRY, useFactory: () => new Registry() }],
  exports: [METRICS_REGISTRY],
})
export class ObservabilityModule {
  static forRoot({ logger, metricsAddress }: ObservabilityModuleOptions): DynamicModule {
    const loggerProvider = { provide: LOGGER, useValue: logger };
    if (metricsAddress === undefined) {
      return {
        module: ObservabilityModule,
        providers: [loggerProvider],
        controllers: [MetricsController],
        exports: [LOGGER],
      };
    }
    const server = {
      provide: MetricsServer,
      inject: [MetricsPage],
      useFactory: (page: MetricsPage) => new MetricsServer(page, metricsAddress, logger),
    };
    return { module: ObservabilityModule, providers: [loggerProvider, server], exports: [LOGGER] };
  }
}
