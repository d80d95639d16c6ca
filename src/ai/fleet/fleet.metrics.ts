import { Inject, Injectable } from '@nestjs/common';
import { Counter, Gauge, type Registry } from 'prom-client';
import { LOGGER, type Logger, METRICS_REGISTRY } from '../../observability/index.js';
import type { FleetObserver } from './fleet.observer.js';

/** Counts and tells what the fleet learns of the upstreams. All labels are names of the catalogue or codes. */
@Injectable()
export class FleetMetrics implements FleetObserver {
  readonly #open: Gauge<'deployment'>;
  readonly #openings: Counter<'deployment' | 'code'>;
  readonly #probes: Counter<'deployment' | 'outcome'>;
  readonly #parked: Gauge<'key' | 'reason'>;
  readonly #storeLost: Gauge;

  constructor(
    @Inject(METRICS_REGISTRY) registry: Registry,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {
    const registers = [registry];
    this.#open = new Gauge({
      name: 'coordinator_deployment_open',
      help: '1 while a deployment is left alone after failures, until a probe succeeds',
      labelNames: ['deployment'],
      registers,
    });
    this.#openings = new Counter({
      name: 'coordinator_deployment_openings_total',
      help: 'Times that a deployment was taken out, as this process saw it, by the code of the last failure',
      labelNames: ['deployment', 'code'],
      registers,
    });
    this.#probes = new Counter({
      name: 'coordinator_deployment_probes_total',
      help: 'Times that this process asked to probe a deployment after an outage: claimed or refused',
      labelNames: ['deployment', 'outcome'],
      registers,
    });
    this.#parked = new Gauge({
      name: 'coordinator_key_parked',
      help: '1 while a key of ours is out: refused by its provider, or its quota is used up',
      labelNames: ['key', 'reason'],
      registers,
    });
    this.#storeLost = new Gauge({
      name: 'coordinator_fleet_store_lost',
      help: '1 while this process knows of the upstreams only what it has seen itself',
      registers,
    });
  }

  opened(deployment: string, { code, forMs, openings }: Parameters<FleetObserver['opened']>[1]): void {
    this.#open.set({ deployment }, 1);
    this.#openings.inc({ deployment, code });
    this.logger.warn({ deployment, code, for_ms: Math.round(forMs), openings }, 'a deployment is left alone');
  }

  closed(deployment: string): void {
    this.#open.set({ deployment }, 0);
    this.logger.info({ deployment }, 'a deployment is in use again');
  }

  probe(deployment: string, outcome: 'claimed' | 'refused'): void {
    this.#probes.inc({ deployment, outcome });
  }

  parked(key: string, { reason, forMs }: Parameters<FleetObserver['parked']>[1]): void {
    this.#parked.set({ key, reason }, 1);
    this.logger.warn({ key, reason, for_ms: Math.round(forMs) }, 'a key is out');
  }

  unparked(key: string): void {
    for (const reason of ['quota', 'refused']) this.#parked.set({ key, reason }, 0);
    this.logger.info({ key }, 'a key is in use again');
  }

  storeLost(error: unknown): void {
    this.#storeLost.set(1);
    this.logger.warn({ err: error }, 'the store is away: this process knows of the upstreams only what it sees itself');
  }

  storeBack(): void {
    this.#storeLost.set(0);
    this.logger.info('the store is back: what all processes know of the upstreams is known again');
  }
}
