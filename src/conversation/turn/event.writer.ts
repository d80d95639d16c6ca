import type { JsonObject } from '../../ai/index.js';
import { type ClientEnvironment, type ClientTimer, StoreError } from '../../store/index.js';
import type { ConversationStore, Place, TellAnswer, TurnEvent } from '../store/index.js';
import { coalesce } from './delta.chunks.js';

/** Until a write that failed is tried again, ms. */
const RETRY_MS = 250;

export interface EventWriterOptions {
  readonly store: Pick<ConversationStore, 'addEvents' | 'events'>;
  readonly environment: ClientEnvironment;
  readonly place: Place;
  readonly turnId: string;
  readonly fence: number;
  /** Between two writes at least, ms. */
  readonly deltaMs: number;
  /** What the store said to the last events. */
  readonly answered: (answer: TellAnswer) => void;
}

/** The chunks of a turn on their way to the store: in order, each once, one write at a time, and not more often than is of use. */
export class EventWriter {
  #chunks: JsonObject[] = [];
  /** To go before the chunks. */
  #events: readonly TurnEvent[] = [{ name: 'turn', data: '{}' }];
  /** Sent, without an answer: the store may have them or not. */
  #inDoubt: readonly TurnEvent[] = [];
  #written = 0;
  #writing: Promise<void> | undefined;
  #timer: ClientTimer | undefined;
  #notBefore = Number.NEGATIVE_INFINITY;
  #isClosed = false;

  constructor(private readonly options: EventWriterOptions) {
    this.#schedule();
  }

  add(chunk: JsonObject): void {
    this.#chunks.push(chunk);
    this.#schedule();
  }

  /**
   * Writes no more.
   *
   * @returns what is left, to be written with the end
   * @throws StoreError where it is not known what is left: to be called again
   */
  async close(): Promise<readonly TurnEvent[]> {
    this.#isClosed = true;
    this.#timer?.cancel();
    await this.#writing;
    await this.#settle();
    return this.#take();
  }

  get #isIdle(): boolean {
    return this.#chunks.length + this.#events.length + this.#inDoubt.length === 0;
  }

  #schedule(): void {
    if (this.#isClosed || this.#timer !== undefined || this.#writing !== undefined || this.#isIdle) return;
    const { environment } = this.options;
    this.#timer = environment.after(Math.max(0, this.#notBefore - environment.now()), () => {
      this.#timer = undefined;
      this.#writing = this.#write().finally(() => {
        this.#writing = undefined;
        this.#schedule();
      });
    });
  }

  async #write(): Promise<void> {
    const { store, place, turnId, fence, environment, deltaMs, answered } = this.options;
    this.#notBefore = environment.now() + deltaMs;
    try {
      await this.#settle();
      this.#inDoubt = this.#take();
      const answer = await store.addEvents(place, turnId, fence, this.#inDoubt);
      this.#written += this.#inDoubt.length;
      this.#inDoubt = [];
      answered(answer);
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      this.#notBefore = environment.now() + RETRY_MS;
    }
  }

  /** Nobody else writes them: what stands there after the last known one is what was sent. */
  async #settle(): Promise<void> {
    if (this.#inDoubt.length === 0) return;
    const { store, place, turnId } = this.options;
    const page = await store.events(place, turnId, { afterId: this.#written, limit: 1, process: undefined });
    const isThere = page !== undefined && page.events.length > 0;
    if (isThere) this.#written += this.#inDoubt.length;
    else this.#events = [...this.#inDoubt, ...this.#events];
    this.#inDoubt = [];
  }

  #take(): readonly TurnEvent[] {
    const deltas = coalesce(this.#chunks).map((chunk) => ({ name: 'delta', data: JSON.stringify(chunk) }));
    const events = [...this.#events, ...deltas];
    this.#chunks = [];
    this.#events = [];
    return events;
  }
}
