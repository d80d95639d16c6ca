import { trace } from '@opentelemetry/api';
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { LockObserver } from './lock/index.js';

/** From a free lock on a near store to a wait or a job of half an hour, seconds. */
const BUCKETS = [0.001, 0.005, 0.025, 0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1_800];

/** What this process's locks do, by the template of their key: lock/ bounds how many there are, and no key is ever a label. */
export class LockMetrics implements LockObserver {
  readonly #wait: Histogram<'template' | 'outcome'>;
  readonly #hold: Histogram<'template' | 'end'>;
  readonly #lost: Counter<'template' | 'reason'>;
  readonly #contended: Counter<'template'>;
  readonly #waiting: Gauge<'template'>;
  readonly #held: Gauge<'template'>;

  constructor(registry: Registry) {
    const registers = [registry];
    this.#wait = new Histogram({
      name: 'coordinator_lock_wait_seconds',
      help: 'From asking for a lock to having it, or to giving up.',
      labelNames: ['template', 'outcome'],
      buckets: BUCKETS,
      registers,
    });
    this.#hold = new Histogram({
      name: 'coordinator_lock_hold_seconds',
      help: 'From having a lock to its end: released, or how it was lost.',
      labelNames: ['template', 'end'],
      buckets: BUCKETS,
      registers,
    });
    this.#lost = new Counter({
      name: 'coordinator_lock_lost_total',
      help: 'Locks that ended before their holder released them.',
      labelNames: ['template', 'reason'],
      registers,
    });
    this.#contended = new Counter({
      name: 'coordinator_lock_contended_total',
      help: 'Waits that began while somebody else had the lock.',
      labelNames: ['template'],
      registers,
    });
    const gauge = (name: string, help: string): Gauge<'template'> =>
      new Gauge({ name, help, labelNames: ['template'], registers });
    this.#waiting = gauge('coordinator_lock_waiting', 'How many wait for a lock in this process.');
    this.#held = gauge('coordinator_lock_held', 'How many locks this process holds.');
  }

  waiting(template: string, change: 1 | -1): void {
    this.#waiting.inc({ template }, change);
  }

  waited(template: string, { outcome, waitMs, isContended }: Parameters<LockObserver['waited']>[1]): void {
    this.#wait.observe({ template, outcome }, secondsOf(waitMs));
    if (isContended) this.#contended.inc({ template });
    if (outcome === 'granted') this.#held.inc({ template });
    // Whoever asks for a lock is told of nothing but the lock: the step is that of the request, where there is one and it is traced.
    trace.getActiveSpan()?.addEvent('lock wait', {
      'coordinator.lock.template': template,
      'coordinator.lock.outcome': outcome,
      'coordinator.lock.wait_ms': Math.round(waitMs),
    });
  }

  held(template: string, { end, holdMs }: Parameters<LockObserver['held']>[1]): void {
    this.#held.dec({ template });
    this.#hold.observe({ template, end }, secondsOf(holdMs));
    if (end !== 'released') this.#lost.inc({ template, reason: end });
  }
}

/** prom-client throws at what is no finite number; an observer must not. */
function secondsOf(milliseconds: number): number {
  return Number.isFinite(milliseconds) ? Math.max(0, milliseconds) / 1_000 : 0;
}
