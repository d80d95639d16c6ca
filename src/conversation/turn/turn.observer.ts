import { Inject, Injectable } from '@nestjs/common';
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import { ApiError } from '../../http/index.js';
import { LOGGER, type Logger, METRICS_REGISTRY } from '../../observability/index.js';
import type { Turn } from '../store/index.js';

/** Counts turns, and tells of those whose end nobody may be there to read. */
@Injectable()
export class TurnObserver {
  readonly #running: Gauge;
  readonly #turns: Counter<'status'>;
  readonly #seconds: Histogram;

  constructor(
    @Inject(METRICS_REGISTRY) registry: Registry,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {
    const registers = [registry];
    this.#running = new Gauge({ name: 'coordinator_turns_running', help: 'Turns that this process runs', registers });
    this.#turns = new Counter({
      name: 'coordinator_turns_total',
      help: 'Turns that ended, by status; lost: another process has them, or their conversation is gone; recovered: ended for a process that is gone',
      labelNames: ['status'],
      registers,
    });
    this.#seconds = new Histogram({
      name: 'coordinator_turn_seconds',
      help: 'From the acknowledgement of a turn to its end',
      buckets: [0.25, 0.5, 1, 2.5, 5, 10, 20, 40, 80, 160],
      registers,
    });
  }

  begun(): void {
    this.#running.inc();
  }

  ended(turn: Pick<Turn, 'status' | 'startedAt' | 'endedAt'>): void {
    this.#running.dec();
    this.#turns.inc({ status: turn.status });
    if (turn.endedAt !== undefined) this.#seconds.observe(Math.max(0, turn.endedAt - turn.startedAt) / 1_000);
  }

  /** It could not be ended here. */
  lost(turnId: string, error: unknown): void {
    this.#running.dec();
    this.#turns.inc({ status: 'lost' });
    this.logger.warn({ turn: turnId, err: error }, 'turn lost');
  }

  /** Whether it was cancelled could not be asked; the next events will tell. */
  unheard(turnId: string, error: unknown): void {
    this.logger.warn({ turn: turnId, err: error }, 'a cancellation may have been missed');
  }

  recovered(turnId: string): void {
    this.#turns.inc({ status: 'recovered' });
    this.logger.warn({ turn: turnId }, 'turn ended for a process that is gone');
  }

  /** What a turn's answer failed with. */
  failed(turnId: string, requestId: string, error: ApiError): void {
    const facts = { turn: turnId, request_id: requestId, code: error.code, err: error };
    if (error.code === 'internal_error') this.logger.error(facts, 'unforeseen error in a turn');
    else this.logger.warn(facts, 'turn without a whole answer');
  }
}
