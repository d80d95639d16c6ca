import { Counter, Gauge, type Registry } from 'prom-client';

/** How many calls this process has under way, and has begun, by deployment. */
export class InFlight {
  readonly #counts = new Map<string, number>();
  readonly #begun: Counter<'model' | 'deployment'>;

  /** @param registry - where the counts are scraped from */
  constructor(registry: Registry) {
    const counts = this.#counts;
    this.#begun = new Counter({
      name: 'coordinator_attempts_total',
      help: 'Calls of deployments that this process has begun',
      labelNames: ['model', 'deployment'],
      registers: [registry],
    });
    new Gauge({
      name: 'coordinator_attempts_in_flight',
      help: 'Calls that this process has under way at a deployment',
      labelNames: ['deployment'],
      registers: [registry],
      collect() {
        for (const [deployment, count] of counts) this.set({ deployment }, count);
      },
    });
  }

  /**
   * A call begins.
   *
   * @param deployment - its id, of the catalogue: memory is bounded
   * @param model - the catalogue's, whose deployment it is
   * @returns to be called when it is over; a second time does nothing
   */
  begin(deployment: string, model: string): () => void {
    let isOver = false;
    this.#begun.inc({ model, deployment });
    this.#counts.set(deployment, this.at(deployment) + 1);
    return () => {
      if (isOver) return;
      isOver = true;
      this.#counts.set(deployment, this.at(deployment) - 1);
    };
  }

  at(deployment: string): number {
    return this.#counts.get(deployment) ?? 0;
  }

  /** At all deployments together. */
  get total(): number {
    return [...this.#counts.values()].reduce((sum, count) => sum + count, 0);
  }
}
