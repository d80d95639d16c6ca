/** Who sleeps until a name is called, or until it is time to look. */
export class Wake {
  readonly #sleepers = new Map<string, Set<() => void>>();

  /** Resolves when the name is called, after `ms`, or when the signal aborts; never rejects. */
  wait(name: string, ms: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const sleepers = this.#sleepers.get(name) ?? new Set();
      this.#sleepers.set(name, sleepers);
      const wake = (): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', wake);
        sleepers.delete(wake);
        if (sleepers.size === 0 && this.#sleepers.get(name) === sleepers) this.#sleepers.delete(name);
        resolve();
      };
      const timer = setTimeout(wake, ms);
      sleepers.add(wake);
      if (signal.aborted) wake();
      else signal.addEventListener('abort', wake, { once: true });
    });
  }

  call(name: string): void {
    for (const wake of [...(this.#sleepers.get(name) ?? [])]) wake();
  }

  callAll(): void {
    for (const name of [...this.#sleepers.keys()]) this.call(name);
  }
}
