import { ApiError } from './api-error.js';
import type { OpenRequest } from './open-request.js';

export interface DrainOptions {
  /** How long new requests are still taken while /ready already says 503, so that load balancers notice, ms. */
  readonly drainDelayMs: number;
  /** How long open requests may go on after the drain began, the delay included, ms. */
  readonly shutdownGraceMs: number;
  /** How long aborted requests may take to send their last bytes, ms. */
  readonly flushMs: number;
}

/** Enough for an error frame on a slow line, short beside any grace. */
export const DEFAULT_FLUSH_MS = 2_000;

export type DrainState = 'serving' | 'draining' | 'refusing' | 'drained';

/** What others do at its turning points. */
export interface DrainSteps {
  /** From now on new requests are refused: idle connections are better closed, so that their next request goes elsewhere. */
  readonly refusing?: () => void;
  /**
   * The requests are over, or their grace is, and what is left of them is about to be aborted; with what is left of the grace, ms: for
   * those who close next.
   */
  readonly workOver?: (graceLeftMs: number) => void;
}

export interface DrainResult {
  /** Requests that were still open when the grace was over. */
  readonly aborted: number;
}

/**
 * Takes the HTTP side down without losing an answer: serving → draining (not ready, but still taking requests) → refusing (new
 * requests get 503, open ones go on) → the grace is over: what is open is aborted through its signal and gets a moment to say so
 * → drained. Requests count as open until their last byte or the end of their connection.
 */
export class Drain {
  #state: DrainState = 'serving';
  #running: Promise<DrainResult> | undefined;
  /** In cells, which are empty when a request is over: a Set's outgrown tables may hold what lay in them for long. */
  readonly #open = new Set<{ request: OpenRequest | undefined }>();
  #onEmpty: (() => void) | undefined;

  constructor(private readonly options: DrainOptions) {}

  get state(): DrainState {
    return this.#state;
  }

  /** How many requests are open now. */
  get openRequests(): number {
    return this.#open.size;
  }

  /**
   * Counts a request until it is over.
   * @throws ApiError `draining` when no more requests are taken
   */
  admit(request: OpenRequest): void {
    if (this.#state === 'refusing' || this.#state === 'drained') {
      throw new ApiError('draining', 'the server is shutting down and takes no new requests');
    }
    const cell: { request: OpenRequest | undefined } = { request };
    this.#open.add(cell);
    request.onOver(() => {
      cell.request = undefined;
      this.#open.delete(cell);
      if (this.#open.size === 0) this.#onEmpty?.();
    });
  }

  /** Runs the drain once; every further call gets the same promise. Never rejects. */
  run(steps: DrainSteps = {}): Promise<DrainResult> {
    this.#running ??= this.#run(steps);
    return this.#running;
  }

  async #run({ refusing, workOver }: DrainSteps): Promise<DrainResult> {
    const { drainDelayMs, shutdownGraceMs, flushMs } = this.options;
    const startedAt = performance.now();
    this.#state = 'draining';
    if (drainDelayMs > 0) await new Promise((resolve) => setTimeout(resolve, drainDelayMs));
    this.#state = 'refusing';
    refusing?.();
    await this.#empty(Math.max(0, shutdownGraceMs - drainDelayMs));
    // Timers fire up to a millisecond early.
    workOver?.(Math.max(0, Math.floor(shutdownGraceMs - (performance.now() - startedAt))));
    const late = [...this.#open];
    for (const { request } of late) {
      request?.abort(new ApiError('draining', 'the server is shutting down: the answer was cut short'));
    }
    await this.#empty(flushMs);
    this.#state = 'drained';
    return { aborted: late.length };
  }

  /** Resolves when no request is open, at the latest after `limitMs`. */
  async #empty(limitMs: number): Promise<void> {
    if (this.#open.size === 0 || limitMs === 0) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, limitMs);
      this.#onEmpty = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    this.#onEmpty = undefined;
  }
}
