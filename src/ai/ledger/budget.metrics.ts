import { Inject, Injectable } from '@nestjs/common';
import { Counter, type Registry } from 'prom-client';
import { LOGGER, type Logger, METRICS_REGISTRY } from '../../observability/index.js';
import type { BudgetEvent, BudgetObserver } from './budget.watch.js';

/** Counts and tells of budgets that are nearly or wholly used. Callers stand in the log only: of them there may be many. */
@Injectable()
export class BudgetMetrics implements BudgetObserver {
  readonly #events: Counter<'threshold' | 'unit' | 'period'>;

  constructor(
    @Inject(METRICS_REGISTRY) registry: Registry,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {
    this.#events = new Counter({
      name: 'coordinator_budget_events_total',
      help: 'Times that a caller had used so many percent of a budget',
      labelNames: ['threshold', 'unit', 'period'],
      registers: [registry],
    });
  }

  crossed({ caller, unit, period, threshold, limit, spent }: BudgetEvent): void {
    this.#events.inc({ threshold: String(threshold), unit, period });
    const fields = { caller, unit, period, threshold, limit, spent };
    this.logger.warn(fields, threshold === 100 ? 'a budget is used up' : 'a budget is nearly used up');
  }
}
