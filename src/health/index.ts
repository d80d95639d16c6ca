export { HealthModule } from './health.module.js';
export type { HealthOptions, Phase, StoreState, UpstreamState } from './health.options.js';
