import { Readable } from 'node:stream';

/** Streams that a test feeds. */
export class FedReadables {
  readonly #opened: Readable[] = [];

  get count(): number {
    return this.#opened.length;
  }

  open(): Readable {
    const readable = new Readable({ read: () => undefined });
    this.#opened.push(readable);
    return readable;
  }

  /** To the newest; null ends it. */
  push(text: string | null): void {
    this.#opened.at(-1)?.push(text);
  }
}
