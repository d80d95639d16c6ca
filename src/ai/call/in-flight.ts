import { Gauge, type Registry } from 'prom-client';

/** How many calls this process has under way, by deployment. */
export class InFlight {
  readonly #counts = new Map<string, number>();

  /** @param registry - where the counts are scraped from; nothing is done for it on a call's way */
  constructor(registry: Registry) {
    const counts = this.#counts;
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
   * @returns to be called when it is over; a second time does nothing
   */
  begin(deployment: string): () => void {
    let isOver = false;
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
