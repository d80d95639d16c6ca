import { AbortListeners, type ClientEnvironment } from '../../store/index.js';
import type { StoreWatch } from './store.watch.js';

/** Waits out the moment in which it is not known yet whether a store that failed is back at once, or away for longer. */
export class Patience {
  readonly #signals = new AbortListeners();
  readonly #waits = new Set<() => void>();

  constructor(
    private readonly environment: ClientEnvironment,
    private readonly watch: StoreWatch,
  ) {}

  /** Resolves when that is known, the wait is over, its signal aborts, or all waits are ended. Never rejects. */
  wait(until: number, signal: AbortSignal | undefined): Promise<void> {
    const waitMs = until - this.environment.now();
    if (waitMs <= 0) return Promise.resolve();
    return new Promise((resolve) => {
      const go = (): void => {
        timer.cancel();
        unlisten();
        deafen?.();
        this.#waits.delete(go);
        resolve();
      };
      const timer = this.environment.after(waitMs, go);
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
