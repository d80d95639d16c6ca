import type { ApiErrorOptions } from '../../http/index.js';
import { UpstreamFailure } from '../upstream/upstream-failure.js';

export interface AttemptLimits {
  /** The provider's name, for messages. */
  readonly provider: string;
  /** What is left of the request's deadline, ms. */
  readonly totalMs: number;
  /** From now to the first content (JSON: to the answer), ms; undefined: only the total counts (nobody else could take over). */
  readonly firstTokenMs?: number;
  /** Between two pieces of the answer, once it has begun, ms. */
  readonly idleMs: number;
}

/** The clocks of an attempt by name. */
export type AttemptClock = 'total' | 'first-token' | 'idle';

/**
 * The clocks of one attempt behind one signal: it aborts with an `UpstreamFailure` when one runs out, and with the parent's reason
 * when the parent aborts. `stop()` must be called on every way out.
 */
export class AttemptTimers {
  readonly #controller = new AbortController();
  readonly #total: NodeJS.Timeout;
  #firstToken: NodeJS.Timeout | undefined;
  #idle: NodeJS.Timeout | undefined;
  #isHeld = false;
  /** The idle clock ran out while it did not count. */
  #isOverdue = false;
  #hasExpiredOnHold = false;
  #expired: AttemptClock | undefined;
  #isStopped = false;
  #onStop: () => void = () => undefined;
  readonly #onParentAbort = (): void => {
    this.stop();
    this.#controller.abort(this.parent.reason);
  };

  constructor(
    private readonly limits: AttemptLimits,
    private readonly parent: AbortSignal,
  ) {
    // Not to be tried again by the client: the time that the caller gave it is spent.
    this.#total = this.timer('total', limits.totalMs, 'did not finish within the time this request had', {
      isRetryable: false,
    });
    if (limits.firstTokenMs !== undefined && limits.firstTokenMs < limits.totalMs) {
      const { firstTokenMs } = limits;
      this.#firstToken = this.timer('first-token', firstTokenMs, `sent nothing within ${String(firstTokenMs)} ms`);
    }
    if (parent.aborted) this.#onParentAbort();
    else parent.addEventListener('abort', this.#onParentAbort, { once: true });
  }

  /** The time was over while the reader downstream held the attempt back. */
  get hasExpiredOnHold(): boolean {
    return this.#hasExpiredOnHold;
  }

  /** The clock that ran out. */
  get expired(): AttemptClock | undefined {
    return this.#expired;
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** A piece of the answer has arrived: the first-token clock ends, the idle clock starts anew. */
  readonly progressed = (): void => {
    if (this.signal.aborted) return;
    clearTimeout(this.#firstToken);
    this.#firstToken = undefined;
    if (this.#idle === undefined) this.#idle = this.idleTimer();
    else this.#idle.refresh();
  };

  /** The reader downstream is slow: what the provider has not been asked for, it can't be late with. */
  hold(): void {
    this.#isHeld = true;
  }

  resume(): void {
    this.#isHeld = false;
    if (this.#isOverdue) this.#idle?.refresh();
    this.#isOverdue = false;
  }

  /** Calls back once, when the attempt is over in whatever way; at once where it is. */
  onStop(listener: () => void): void {
    if (this.#isStopped) listener();
    else this.#onStop = listener;
  }

  stop(): void {
    clearTimeout(this.#total);
    clearTimeout(this.#firstToken);
    clearTimeout(this.#idle);
    this.parent.removeEventListener('abort', this.#onParentAbort);
    if (this.#isStopped) return;
    this.#isStopped = true;
    this.#onStop();
  }

  private idleTimer(): NodeJS.Timeout {
    const { provider, idleMs } = this.limits;
    return setTimeout(() => {
      if (this.#isHeld) this.#isOverdue = true;
      else this.expire('idle', `${provider} fell silent for ${String(idleMs)} ms`);
    }, idleMs);
  }

  private timer(clock: AttemptClock, ms: number, fact: string, options: ApiErrorOptions = {}): NodeJS.Timeout {
    return setTimeout(() => {
      this.expire(clock, `${this.limits.provider} ${fact}`, options);
    }, ms);
  }

  private expire(clock: AttemptClock, message: string, options: ApiErrorOptions = {}): void {
    this.#expired = clock;
    this.#hasExpiredOnHold = this.#isHeld;
    this.stop();
    this.#controller.abort(new UpstreamFailure('upstream', 'timeout', message, options));
  }
}
