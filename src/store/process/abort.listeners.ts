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
  /** In cells, for the reason that BriefMap has: also a WeakMap's outgrown tables hold for long what lay in them. */
  readonly #cells = new WeakMap<AbortSignal, { shared: Shared | undefined }>();

  /** Calls once, with its reason, when the signal aborts. @returns takes the listener off */
  add(signal: AbortSignal, listener: Listener): () => void {
    const cell = this.#cells.get(signal) ?? this.#listen(signal);
    const { shared } = cell;
    shared?.listeners.add(listener);
    return () => {
      shared?.listeners.delete(listener);
      if (shared === undefined || shared.listeners.size > 0 || cell.shared === undefined) return;
      cell.shared = undefined;
      this.#cells.delete(signal);
      signal.removeEventListener('abort', shared.hear);
    };
  }

  #listen(signal: AbortSignal): { shared: Shared | undefined } {
    const listeners = new Set<Listener>();
    const hear = (): void => {
      for (const listener of [...listeners]) listener(signal.reason);
    };
    const cell = { shared: { listeners, hear } };
    this.#cells.set(signal, cell);
    signal.addEventListener('abort', hear, { once: true });
    return cell;
  }
}
