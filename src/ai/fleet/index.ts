export { Fleet, type FleetOptions, type FleetScope } from './fleet.js';
export { type FleetObserver, SILENT_FLEET_OBSERVER } from './fleet.observer.js';
export { fleetStoreOn } from './fleet-store.factory.js';
export type { KeyCard, KeyFault, ParkingCard, Spending, UsageReport } from './parts/key.book.js';
export type { LatencyCard, TimedModel } from './parts/latencies.js';
export type { RateLimitCard } from './parts/rate.limits.js';
export type { FailureReport, StandingCard } from './parts/standings.js';
export type { QuotaNeed } from './quota.need.js';
export type { UsageUnit } from './topics/usage.topic.js';
