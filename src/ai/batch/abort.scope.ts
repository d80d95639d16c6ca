/** Signals of works that run side by side. The one above them is listened to once: Node warns of more than ten listeners. */
export class AbortScope {
  readonly #running = new Set<AbortController>();
  readonly #abort = (): void => {
    for (const controller of this.#running) controller.abort(this.parent.reason);
  };

  constructor(private readonly parent: AbortSignal) {
    parent.addEventListener('abort', this.#abort, { once: true });
  }

  /** @param work - given a signal of its own, which aborts with the parent's reason */
  async within<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const controller = new AbortController();
    if (this.parent.aborted) controller.abort(this.parent.reason);
    this.#running.add(controller);
    try {
      return await work(controller.signal);
    } finally {
      this.#running.delete(controller);
    }
  }

  /** To be called when nothing runs any more. */
  close(): void {
    this.parent.removeEventListener('abort', this.#abort);
  }
}
