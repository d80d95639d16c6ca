import type { World } from './world.js';

/**
 * What a lock is for: one number behind a fence, somewhere else than the locks. Who holds the lock takes the number over under its
 * fence, and may write as long as no newer fence has taken it over. However the locks fail, no write may undo another one.
 */
export class GuardedState {
  #fence = 0;
  #number = 0;

  constructor(private readonly world: World) {}

  /** @returns the number; undefined: a newer holder has taken over */
  takeOver(fence: number): number | undefined {
    if (fence < this.#fence) {
      this.world.hit('takeover refused by the fence');
      return undefined;
    }
    this.#fence = fence;
    return this.#number;
  }

  /** @param seen the number that the writer took over */
  write(fence: number, seen: number): void {
    if (fence < this.#fence) {
      this.world.hit('write refused by the fence');
      return;
    }
    if (seen !== this.#number) this.world.violate('lost update', `fence ${fence} saw ${seen}, not ${this.#number}`);
    this.#number += 1;
    this.world.hit('written');
  }
}
