import { CLIENT_RULES } from './client.rules.js';

/**
 * What the store's counter of one key was when commands ran, by the time they were sent. Fences rise with every event of the key:
 * a grant whose fence is above a counter happened after the command that brought this counter was sent (R1).
 */
export class CounterHistory {
  readonly #entries: { readonly sentAt: number; readonly counter: number }[] = [];

  note(sentAt: number, counter: number): void {
    this.#entries.push({ sentAt, counter });
    if (this.#entries.length > CLIENT_RULES.historyLength) this.#entries.shift();
  }

  /** The latest moment that is known to lie before the grant with this fence; at least `earliest`. */
  latestBefore(fence: number, earliest: number): number {
    let latest = earliest;
    for (const { sentAt, counter } of this.#entries) {
      if (counter < fence && sentAt > latest) latest = sentAt;
    }
    return latest;
  }
}
