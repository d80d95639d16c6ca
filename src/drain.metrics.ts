import { Gauge, type Registry } from 'prom-client';
import type { Drain } from './http/index.js';

/** Shows from where metrics are scraped whether this process is going down. */
export function showDrain(registry: Registry, drain: Pick<Drain, 'state'>): void {
  new Gauge({
    name: 'coordinator_draining',
    help: '1 from SIGTERM on: /ready says 503 while open requests go on',
    registers: [registry],
    collect() {
      this.set(drain.state === 'serving' ? 0 : 1);
    },
  });
}
