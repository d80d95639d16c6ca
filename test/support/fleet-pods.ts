import { Fleet } from '../../src/ai/fleet/index.js';
import type { FleetObserver } from '../../src/ai/fleet/fleet.observer.js';
import type { FleetStore } from '../../src/ai/fleet/fleet.store.js';
import type { FleetTime } from '../../src/ai/fleet/view/fleet.clock.js';

export const DEPLOYMENT = 'openai/0/m';
export const OTHER = 'openai/1/m';
export const KEY = 'openai/0';
export const MODEL = 'm';

/** What a fleet told its observer, in words. */
export class ToldObserver implements FleetObserver {
  readonly told: string[] = [];

  opened(deployment: string, { code, openings }: Parameters<FleetObserver['opened']>[1]): void {
    this.told.push(`opened ${deployment} ${openings} ${code}`);
  }

  closed(deployment: string): void {
    this.told.push(`closed ${deployment}`);
  }

  probe(deployment: string, outcome: 'claimed' | 'refused'): void {
    this.told.push(`${outcome} ${deployment}`);
  }

  parked(key: string, { reason }: Parameters<FleetObserver['parked']>[1]): void {
    this.told.push(`parked ${key} ${reason}`);
  }

  unparked(key: string): void {
    this.told.push(`unparked ${key}`);
  }

  storeLost(): void {
    this.told.push('store lost');
  }

  storeBack(): void {
    this.told.push('store back');
  }
}

export interface FleetPod {
  readonly fleet: Fleet;
  readonly told: string[];
}

/** One process of a fleet with two keys, two deployments and one model, whose first token may take 20 s. */
export function fleetPod(store: FleetStore, time?: FleetTime): FleetPod {
  const observer = new ToldObserver();
  const fleet = new Fleet({
    store,
    observer,
    deployments: [
      { id: DEPLOYMENT, key: KEY },
      { id: OTHER, key: 'openai/1' },
    ],
    models: [{ name: MODEL, firstTokenMs: 20_000 }],
    ...(time && { time }),
  });
  return { fleet, told: observer.told };
}

/** Makes a deployment fail until it opens. */
export function breakDown({ standings }: Fleet, deployment = DEPLOYMENT): void {
  for (let failure = 0; failure < 3; failure += 1) standings.failed(deployment, { code: 'upstream_error', tookMs: 5 });
}
