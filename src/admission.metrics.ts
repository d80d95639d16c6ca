import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { AdmissionObserver, Booking } from './admission/index.js';
import { BudgetMetrics, BudgetWatch } from './ai/index.js';
import type { Logger } from './observability/index.js';

/** From room that is there to a wait for the next minute, seconds. */
const BUCKETS = [0.001, 0.005, 0.025, 0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 120];
const BUDGET_SCOPE = 'budget:';

/** What this process's calls meet at their limits, by whose limits they are; callers and models are no labels. */
export class AdmissionMetrics implements AdmissionObserver {
  readonly #queue: Histogram<'kind' | 'outcome'>;
  readonly #waiting: Gauge<'kind'>;
  readonly #local: Counter<'kind'>;
  readonly #ended: Counter<'kind' | 'end'>;
  readonly #away: Gauge;
  readonly #budgets: BudgetWatch;

  constructor(
    registry: Registry,
    private readonly logger: Logger,
  ) {
    const registers = [registry];
    this.#queue = new Histogram({
      name: 'coordinator_admission_wait_seconds',
      help: 'From asking for room among limits to having it, or to being refused.',
      labelNames: ['kind', 'outcome'],
      buckets: BUCKETS,
      registers,
    });
    this.#waiting = new Gauge({
      name: 'coordinator_admission_waiting',
      help: 'How many calls of this process wait for room.',
      labelNames: ['kind'],
      registers,
    });
    this.#local = new Counter({
      name: 'coordinator_admission_local_total',
      help: "Decisions by this process's own part of the limits, since the store was away.",
      labelNames: ['kind'],
      registers,
    });
    this.#ended = new Counter({
      name: 'coordinator_reservations_ended_total',
      help: 'Reservations that ended, by how: settled, cancelled, expired or abandoned.',
      labelNames: ['kind', 'end'],
      registers,
    });
    this.#away = new Gauge({
      name: 'coordinator_admission_degraded',
      help: '1 while the store is away and this process goes by its own part of the limits.',
      registers,
    });
    this.#budgets = new BudgetWatch(new BudgetMetrics(registry, logger));
  }

  waiting(kind: string, change: 1 | -1): void {
    this.#waiting.inc({ kind }, change);
  }

  decided(kind: string, { outcome, queueMs, isLocal }: Parameters<AdmissionObserver['decided']>[1]): void {
    this.#queue.observe({ kind, outcome }, Number.isFinite(queueMs) ? Math.max(0, queueMs) / 1_000 : 0);
    if (isLocal) this.#local.inc({ kind });
  }

  ended(kind: string, { end }: Parameters<AdmissionObserver['ended']>[1]): void {
    this.#ended.inc({ kind, end });
  }

  booked(scope: string, booking: Booking): void {
    if (!scope.startsWith(BUDGET_SCOPE)) return;
    this.#budgets.spent({ ...booking, caller: scope.slice(BUDGET_SCOPE.length) });
  }

  storeLost(error: unknown): void {
    this.logger.warn({ err: error }, 'admission: the store did not answer');
  }

  storeAway(): void {
    this.#away.set(1);
    this.logger.warn('admission: the store is away, limits are kept by this process alone or calls are refused');
  }

  storeBack(downForMs: number): void {
    this.#away.set(0);
    this.logger.warn({ down_for_ms: Math.round(downForMs) }, 'admission: the store is back');
  }
}
