/** Since when the store has not answered, judged by what happened anyway. */
export class HealthRecord {
  #failingSince: number | undefined;
  #lastSuccess = -Infinity;

  /** @param now monotonic, ms */
  constructor(private readonly now: () => number = () => performance.now()) {}

  get downForMs(): number {
    return this.#failingSince === undefined ? 0 : Math.max(1, Math.round(this.now() - this.#failingSince));
  }

  succeeded(): void {
    this.#failingSince = undefined;
    this.#lastSuccess = this.now();
  }

  failed(): void {
    this.#failingSince ??= this.now();
  }

  hasSucceededWithin(ms: number): boolean {
    return this.#failingSince === undefined && this.now() - this.#lastSuccess < ms;
  }
}
