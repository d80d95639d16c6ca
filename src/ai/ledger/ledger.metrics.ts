import { Inject, Injectable } from '@nestjs/common';
import { Counter, Gauge, type Registry } from 'prom-client';
import { LOGGER, type Logger, METRICS_REGISTRY } from '../../observability/index.js';
import type { LedgerObserver, LossReason } from './ledger.observer.js';

/** Counts what reaches the ledger and what does not. */
@Injectable()
export class LedgerMetrics implements LedgerObserver {
  readonly #booked: Counter;
  readonly #lost: Counter<'reason'>;
  readonly #pending: Gauge;
  readonly #storeLost: Gauge;

  constructor(
    @Inject(METRICS_REGISTRY) registry: Registry,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {
    const registers = [registry];
    this.#booked = new Counter({
      name: 'coordinator_ledger_booked_total',
      help: 'Calls that this process has written into the ledger',
      registers,
    });
    this.#lost = new Counter({
      name: 'coordinator_ledger_lost_total',
      help: 'Calls that are missing from the ledger: too many waited (overflow), or the store was away for too long (late, shutdown)',
      labelNames: ['reason'],
      registers,
    });
    this.#pending = new Gauge({
      name: 'coordinator_ledger_pending',
      help: 'Calls that wait to be written into the ledger',
      registers,
    });
    this.#storeLost = new Gauge({
      name: 'coordinator_ledger_store_lost',
      help: '1 while the ledger cannot be written: calls wait for it',
      registers,
    });
  }

  booked(calls: number): void {
    this.#booked.inc(calls);
  }

  lost(calls: number, reason: LossReason): void {
    this.#lost.inc({ reason }, calls);
    this.logger.error({ calls, reason }, 'calls are missing from the ledger');
  }

  pending(calls: number): void {
    this.#pending.set(calls);
  }

  storeLost(error: unknown): void {
    this.#storeLost.set(1);
    this.logger.warn({ err: error }, 'the ledger cannot be written: calls wait for it');
  }

  storeBack(): void {
    this.#storeLost.set(0);
    this.logger.info('the ledger can be written again');
  }
}
