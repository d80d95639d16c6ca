/** What is read together with others. */
export interface SharedPieces {
  /** What has come since the `at`-th piece, and the number of the piece after that. */
  piecesFrom(at: number): { readonly text: string; readonly next: number };
  /** How it ended, if it did. */
  readonly ended: { readonly error?: unknown } | undefined;
  /** Goes on by a piece, unless that is under way; then all readers are woken. Never rejects. */
  advance(): Promise<void>;
  /** A reader has gone on. */
  trim(): void;
  close(reader: BroadcastReader): void;
}

/** One reader's place in a broadcast. */
export class BroadcastReader {
  /** The piece that comes next. */
  at = 0;
  #failure: { readonly error: unknown } | undefined;
  #wake: () => void = () => undefined;

  constructor(private readonly pieces: SharedPieces) {}

  /** What comes next; undefined: it is over. @throws what it failed with, and what the source has thrown */
  async next(): Promise<string | undefined> {
    for (;;) {
      if (this.#failure !== undefined) throw this.#failure.error;
      const { text, next } = this.pieces.piecesFrom(this.at);
      this.at = next;
      if (text !== '') {
        this.pieces.trim();
        return text;
      }
      const { ended } = this.pieces;
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
    this.pieces.close(this);
  }

  #more(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
      void this.pieces.advance();
    });
  }
}
