import { StoreConfigurationError, type StoreFaultReason } from './store.errors.js';

/** Since when the store has not answered, judged by what happened anyway. */
export class HealthRecord {
  #failingSince: number | undefined;
  #lastSuccess = -Infinity;
  #reason: StoreFaultReason | undefined;

  /** @param now monotonic, ms */
  constructor(private readonly now: () => number = () => performance.now()) {}

  get downForMs(): number {
    return this.#failingSince === undefined ? 0 : Math.max(1, Math.round(this.now() - this.#failingSince));
  }

  /** What somebody has to change, where nothing else helps. */
  get reason(): StoreFaultReason | undefined {
    return this.#reason;
  }

  succeeded(): void {
    this.#failingSince = undefined;
    this.#reason = undefined;
    this.#lastSuccess = this.now();
  }

  failed(fault?: unknown): void {
    this.#failingSince ??= this.now();
    this.#reason = fault instanceof StoreConfigurationError ? fault.reason : undefined;
  }

  hasSucceededWithin(ms: number): boolean {
    return this.#failingSince === undefined && this.now() - this.#lastSuccess < ms;
  }
}
