import { ApiError } from '../../../http/index.js';
import type { CompletionCall } from '../../call/completion-call.js';
import type { BroadcastReader } from './broadcast.reader.js';
import type { Flight, Landing } from './flight.js';

/** One call's place in a flight, until it has its answer, its time is over, or its caller leaves. */
export class Seat {
  readonly #timer: NodeJS.Timeout;
  #failure: { readonly error: unknown } | undefined;
  #refuse: (error: unknown) => void = () => undefined;
  #reader: BroadcastReader | undefined;

  constructor(
    private readonly flight: Flight,
    private readonly call: CompletionCall,
  ) {
    const { signal, deadlineMs, startedAt } = call;
    const leftMs = deadlineMs - (performance.now() - startedAt);
    this.#timer = setTimeout(this.#expire, Math.max(0, leftMs));
    if (signal.aborted) this.#abort();
    else signal.addEventListener('abort', this.#abort, { once: true });
  }

  /** Its own call is the one that is made. */
  get isPilots(): boolean {
    return this.flight.pilot === this.call;
  }

  /** @throws ApiError timeout at its own deadline; the signal's reason when the caller has left */
  landing(): Promise<Landing> {
    return new Promise((resolve, reject) => {
      this.#refuse = reject;
      if (this.#failure === undefined) void this.flight.landing.then(resolve);
      else this.#refuse(this.#failure.error);
    });
  }

  /** From now on it reads, until it fails or leaves. */
  take(reader: BroadcastReader): void {
    this.#reader = reader;
    if (this.#failure !== undefined) reader.fail(this.#failure.error);
  }

  /** On every way out; again does nothing. @param reason - why nobody waits here any more */
  leave(reason: unknown): void {
    clearTimeout(this.#timer);
    this.call.signal.removeEventListener('abort', this.#abort);
    this.#reader?.close();
    this.flight.leave(this.call, reason);
  }

  readonly #abort = (): void => {
    this.#fail(this.call.signal.reason);
  };

  readonly #expire = (): void => {
    // Whoever makes the call knows better what the time went by with.
    if (this.isPilots) return;
    this.#fail(new ApiError('timeout', 'the time this request had is over', { isRetryable: false }));
  };

  #fail(error: unknown): void {
    this.#failure = { error };
    this.#refuse(error);
    this.#reader?.fail(error);
    this.leave(error);
  }
}
