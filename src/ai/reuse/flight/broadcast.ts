import { ApiError } from '../../../http/index.js';
import { BroadcastReader, type SharedPieces } from './broadcast.reader.js';

const DONE = 'data: [DONE]\n\n';

export interface BroadcastOptions {
  /** Of a longer stream only what somebody has still to read is kept, characters. */
  readonly mostChars: number;
  /** All events of a stream that came to its regular end; its last events wait for this. Must not reject. */
  readonly whole: (frames: string) => Promise<void>;
  /** Called once when it became too long to be read from its beginning. */
  readonly outgrown: () => void;
  /** Called once, when the source has ended in whatever way. */
  readonly over: () => void;
}

/**
 * One stream for several readers, each from its beginning and at its own pace. The source is read as fast as the fastest reader
 * reads, and no faster.
 */
export class Broadcast implements SharedPieces {
  readonly #pieces: string[] = [];
  readonly #readers = new Set<BroadcastReader>();
  /** The number of the first piece that is kept. */
  #first = 0;
  #chars = 0;
  #isOutgrown = false;
  #end: { readonly error?: unknown } | undefined;
  #pull: Promise<void> | undefined;

  constructor(
    private readonly source: AsyncGenerator<string>,
    private readonly options: BroadcastOptions,
  ) {}

  /** It can't be read from its beginning any more. */
  get isOutgrown(): boolean {
    return this.#isOutgrown;
  }

  /** A reader from the beginning, to be closed on every way out; undefined: it can't be read from there any more. */
  reader(): BroadcastReader | undefined {
    if (this.#isOutgrown) return undefined;
    const reader = new BroadcastReader(this);
    this.#readers.add(reader);
    return reader;
  }

  piecesFrom(at: number): { readonly text: string; readonly next: number } {
    return { text: this.#pieces.slice(at - this.#first).join(''), next: this.#first + this.#pieces.length };
  }

  get ended(): { readonly error?: unknown } | undefined {
    return this.#end;
  }

  advance(): Promise<void> {
    this.#pull ??= this.#advance().finally(() => {
      this.#pull = undefined;
      for (const reader of this.#readers) reader.wake();
    });
    return this.#pull;
  }

  /** What all have read need not be kept where nobody begins any more. */
  trim(): void {
    if (!this.#isOutgrown) return;
    const needed = Math.min(this.#first + this.#pieces.length, ...[...this.#readers].map(({ at }) => at));
    for (const piece of this.#pieces.splice(0, needed - this.#first)) this.#chars -= piece.length;
    this.#first = needed;
  }

  close(reader: BroadcastReader): void {
    this.#readers.delete(reader);
    this.trim();
  }

  /** Reads the source to its end for nobody. */
  async drain(): Promise<void> {
    while (this.#end === undefined) await this.advance();
  }

  /** Nobody wants the rest. The source must have been told by its signal, or this waits for its next piece. */
  async stop(): Promise<void> {
    await this.source.return(undefined);
    this.#finish({});
  }

  async #advance(): Promise<void> {
    try {
      const step: IteratorResult<string, unknown> = await this.source.next();
      if (step.done === true) {
        this.#finish({});
        return;
      }
      const text = step.value;
      const isLast = text.endsWith(DONE);
      if (isLast) await this.#complete(text);
      this.#keep(text);
      if (isLast) this.#finish({});
    } catch (error) {
      this.#finish({ error });
    }
  }

  /** What follows the last event is only the source's own tidying up. */
  async #complete(last: string): Promise<void> {
    while ((await this.source.next()).done !== true);
    if (!this.#isOutgrown) await this.options.whole([...this.#pieces, last].join(''));
  }

  #keep(text: string): void {
    this.#pieces.push(text);
    this.#chars += text.length;
    if (this.#chars <= this.options.mostChars) return;
    if (!this.#isOutgrown) {
      this.#isOutgrown = true;
      this.options.outgrown();
    }
    this.trim();
    if (this.#chars > this.options.mostChars) this.#cutSlowest();
  }

  /** One who stands still must not hold up, or fill the memory of, those who go on; where all stand, nothing is read. */
  #cutSlowest(): void {
    const slowest = [...this.#readers].toSorted((one, other) => one.at - other.at)[0];
    const isAlone = this.#readers.size < 2;
    if (slowest === undefined || isAlone) return;
    slowest.fail(new ApiError('overloaded', 'this answer was read too slowly to be shared with others'));
    this.close(slowest);
  }

  #finish(end: { readonly error?: unknown }): void {
    if (this.#end !== undefined) return;
    this.#end = end;
    this.options.over();
  }
}
