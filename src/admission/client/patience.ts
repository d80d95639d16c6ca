import { AbortListeners } from '../../store/index.js';
import type { StoreWatch } from './store.watch.js';

/** Waits out the moment in which it is not known yet whether a store that failed is back at once, or away for longer. */
export class Patience {
  readonly #signals = new AbortListeners();
  readonly #waits = new Set<() => void>();

  constructor(private readonly watch: StoreWatch) {}

  /** Resolves when that is known, the signal aborts, or all waits are ended: the watch sees to it that it is soon. Never rejects. */
  wait(signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve) => {
      const go = (): void => {
        unlisten();
        deafen?.();
        this.#waits.delete(go);
        resolve();
      };
      const unlisten = this.watch.onChange(go);
      const deafen = signal && this.#signals.add(signal, go);
      this.#waits.add(go);
    });
  }

  /** Ends all waits. */
  end(): void {
    for (const go of [...this.#waits]) go();
  }
}
