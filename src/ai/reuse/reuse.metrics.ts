import { Inject, Injectable } from '@nestjs/common';
import { Counter, Gauge, type Registry } from 'prom-client';
import { LOGGER, type Logger, METRICS_REGISTRY } from '../../observability/index.js';
import type { CacheOutcome } from '../call/completion-call.js';
import type { ReuseObserver } from './reuse.observer.js';

/** Between two lines that say the same, ms. */
const QUIET_MS = 10_000;

/** Counts what is reused. All labels are names of the catalogue or outcomes. */
@Injectable()
export class ReuseMetrics implements ReuseObserver {
  readonly #met: Counter<'model' | 'outcome'>;
  readonly #waiting: Gauge;
  readonly #storeLost: Counter;
  #toldAt = Number.NEGATIVE_INFINITY;

  constructor(
    @Inject(METRICS_REGISTRY) registry: Registry,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {
    const registers = [registry];
    this.#met = new Counter({
      name: 'coordinator_cache_total',
      help: 'Answered completions by what they met: a kept answer (hit), a call under way (joined), neither (miss), or no look (bypass)',
      labelNames: ['model', 'outcome'],
      registers,
    });
    this.#waiting = new Gauge({
      name: 'coordinator_joined_waiting',
      help: "Requests of this process that wait for another one's answer",
      registers,
    });
    this.#storeLost = new Counter({
      name: 'coordinator_cache_store_failures_total',
      help: 'Times that the store did not find, keep or join an answer because it was away',
      registers,
    });
  }

  met(outcome: CacheOutcome, model: string): void {
    this.#met.inc({ outcome, model });
  }

  waits(): () => void {
    this.#waiting.inc();
    return () => {
      this.#waiting.dec();
    };
  }

  storeLost(error: unknown): void {
    this.#storeLost.inc();
    if (performance.now() - this.#toldAt < QUIET_MS) return;
    this.#toldAt = performance.now();
    this.logger.warn(
      { err: error },
      'the store of answers is away: nothing is found or kept there, no other pod is joined',
    );
  }
}
