import type { KeyFault } from './topics/parking.topic.js';

/** What metrics and the log may learn. All names are the catalogue's. Must not throw. */
export interface FleetObserver {
  /** A deployment is left alone, as this process sees it, whoever saw it fail. `openings`: how often in a row. */
  opened(
    deployment: string,
    opening: { readonly code: string; readonly forMs: number; readonly openings: number },
  ): void;
  /** A deployment is in use again. */
  closed(deployment: string): void;
  /** This process asked for the right to probe a deployment, and had it or not. */
  probe(deployment: string, outcome: 'claimed' | 'refused'): void;
  parked(key: string, parking: { readonly reason: KeyFault; readonly forMs: number }): void;
  unparked(key: string): void;
  /** The first failure since the store answered last. */
  storeLost(error: unknown): void;
  storeBack(): void;
}

/** Where nobody looks. */
export const SILENT_FLEET_OBSERVER: FleetObserver = {
  opened: () => undefined,
  closed: () => undefined,
  probe: () => undefined,
  parked: () => undefined,
  unparked: () => undefined,
  storeLost: () => undefined,
  storeBack: () => undefined,
};
