import type { Broadcast } from './broadcast.js';

/** One reader's place in a broadcast. */
export class BroadcastReader {
  /** The piece that comes next. */
  at = 0;
  #failure: { readonly error: unknown } | undefined;
  #wake: () => void = () => undefined;

  constructor(private readonly broadcast: Broadcast) {}

  /** What comes next; undefined: it is over. @throws what it failed with, and what the source has thrown */
  async next(): Promise<string | undefined> {
    for (;;) {
      if (this.#failure !== undefined) throw this.#failure.error;
      const { text, next } = this.broadcast.piecesFrom(this.at);
      this.at = next;
      if (text !== '') {
        this.broadcast.trim();
        return text;
      }
      const { ended } = this.broadcast;
      if (ended !== undefined && 'error' in ended) throw ended.error;
      if (ended !== undefined) return undefined;
      await this.#more();
    }
  }

  /** It may read no longer. */
  fail(error: unknown): void {
    this.#failure ??= { error };
    this.#wake();
  }

  wake(): void {
    this.#wake();
  }

  close(): void {
    this.broadcast.close(this);
  }

  #more(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
      void this.broadcast.advance();
    });
  }
}
