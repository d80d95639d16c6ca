type Listener = (reason: unknown) => void;

interface Shared {
  readonly listeners: Set<Listener>;
  readonly hear: () => void;
}

/**
 * Listens to each signal once, however many calls share it: Node warns of more than ten listeners on one signal, and a server may
 * give that of its shutdown to thousands.
 */
export class AbortListeners {
  readonly #shared = new WeakMap<AbortSignal, Shared>();

  /** Calls once, with its reason, when the signal aborts. @returns takes the listener off */
  add(signal: AbortSignal, listener: Listener): () => void {
    const shared = this.#shared.get(signal) ?? this.#listen(signal);
    shared.listeners.add(listener);
    return () => {
      shared.listeners.delete(listener);
      if (shared.listeners.size > 0 || this.#shared.get(signal) !== shared) return;
      this.#shared.delete(signal);
      signal.removeEventListener('abort', shared.hear);
    };
  }

  #listen(signal: AbortSignal): Shared {
    const listeners = new Set<Listener>();
    const hear = (): void => {
      for (const listener of [...listeners]) listener(signal.reason);
    };
    const shared = { listeners, hear };
    this.#shared.set(signal, shared);
    signal.addEventListener('abort', hear, { once: true });
    return shared;
  }
}
