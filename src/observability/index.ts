export { configureObservability, type ObservabilityOptions } from './configure-observability.js';
export { serializeError, type SerializedError } from './error.serializer.js';
export { createLogger, LOGGER, type Logger, type LoggerOptions } from './logger.js';
export { METRICS_REGISTRY } from './metrics.registry.js';
export type { MetricsAddress } from './metrics.server.js';
export { NestLogger } from './nest.logger.js';
export { ObservabilityModule, type ObservabilityModuleOptions } from './observability.module.js';
export { addOutcome, CLIENT_CLOSED_REQUEST, type OutcomeFields } from './outcome.js';
