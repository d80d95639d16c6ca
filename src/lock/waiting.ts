import type { Acquisition, AcquisitionFailure } from './client/acquisition.js';
import type { ClientEnvironment, ClientTimer } from './client/client.ports.js';
import type { LockClient } from './client/lock.client.js';
import { isFinal } from './client/store.line.js';
import { Hold } from './hold.js';
import { type LeaseEnd, LockBusyError, LockLostError, LockStoreError, LockTimeoutError } from './lock.errors.js';
import type { WaitOutcome } from './lock.observer.js';
import { type ResolvedLockOptions, shareOf } from './lock.options.js';

export interface Wish {
  readonly key: string;
  readonly options: ResolvedLockOptions;
  /** What is left of the wait, ms. */
  readonly waitMs: number;
}

export interface WaitingHooks {
  over(outcome: WaitOutcome, isContended: boolean): void;
  held(hold: Hold): void;
  ended(hold: Hold, end: LeaseEnd): void;
}

/** A store that has not answered by then is late. */
const PROMPT_MS = 100;

/** One wait for one key, until it is held, refused, or given up. */
export class Waiting {
  /** @throws LockBusyError, LockTimeoutError, LockStoreError, LockLostError (revoked before it began), or what it was given up with */
  readonly hold: Promise<Hold>;
  readonly #acquisition: Acquisition;
  readonly #timer: ClientTimer | undefined;
  #isOver = false;
  #resolve: (hold: Hold) => void = () => undefined;
  #reject: (error: unknown) => void = () => undefined;

  constructor(
    private readonly client: LockClient,
    environment: ClientEnvironment,
    private readonly wish: Wish,
    private readonly hooks: WaitingHooks,
  ) {
    this.hold = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    this.#acquisition = this.#start();
    if (wish.options.waitMs > 0) {
      this.#timer = environment.after(wish.waitMs, () => {
        this.#end('timeout', this.#lateness());
      });
    }
  }

  /** Ends the wait with this error, if it is not over. */
  giveUp(error: unknown): void {
    this.#end('given_up', error);
  }

  #start(): Acquisition {
    const { key, options } = this.wish;
    const { leaseMs, minHoldMs, maxHoldMs, description, mode, waitMs } = options;
    let hold: Hold | undefined;
    const request = { key, leaseMs, minHoldMs, maxHoldMs, description, ...shareOf(mode), waits: waitMs > 0 };
    return this.client.acquire(request, {
      held: () => {
        hold = new Hold(this.client, this.#acquisition, mode, (one, end) => {
          this.hooks.ended(one, end);
        });
        this.#over('granted');
        this.hooks.held(hold);
        this.#resolve(hold);
      },
      failed: (failure) => {
        this.#end(failure.kind === 'busy' ? 'busy' : 'failed', this.#errorOf(failure));
      },
      lost: (reason) => {
        hold?.lose(reason);
      },
    });
  }

  #end(outcome: WaitOutcome, error: unknown): void {
    if (this.#isOver) return;
    this.client.cancel(this.#acquisition);
    this.#over(outcome);
    this.#reject(error);
  }

  #over(outcome: WaitOutcome): void {
    this.#isOver = true;
    this.#timer?.cancel();
    this.hooks.over(outcome, outcome === 'busy' || this.#acquisition.ticket < Infinity);
  }

  /** A store that is silent is another thing than a lock that is taken. */
  #lateness(): Error {
    const { silence, state, ticket } = this.#acquisition;
    const { key, options } = this.wish;
    if (silence !== undefined) return storeError(silence);
    // Granted and not confirmed: the lock did become free.
    if (state === 'claiming' || (state === 'asking' && ticket === Infinity && !this.#isUsedUp())) {
      return new LockStoreError(`no answer within the wait of ${options.waitMs} ms`);
    }
    return new LockTimeoutError(key, options.waitMs, retryAfterMs(this.#acquisition));
  }

  /** The earlier keys took most of the wait, and left less than an answer may take. */
  #isUsedUp(): boolean {
    const { waitMs, options } = this.wish;
    return waitMs < PROMPT_MS && waitMs < options.waitMs / 2;
  }

  #errorOf(failure: AcquisitionFailure): Error {
    const { key } = this.wish;
    if (failure.kind === 'busy') return new LockBusyError(key, undefined, retryAfterMs(this.#acquisition));
    if (failure.kind === 'revoked') return new LockLostError(key, 'revoked');
    return storeError(failure.error);
  }
}

/** What a store did wrong, as this module's error. */
export function storeError(error: unknown): LockStoreError {
  if (error instanceof LockStoreError) return error;
  const fact = error instanceof Error ? error.message : String(error);
  return new LockStoreError(fact, { cause: error, isRetryable: !isFinal(error) });
}

/** The first lease may end then; it is usually renewed, so another look makes sense after a few seconds at most. */
function retryAfterMs({ nextExpiryMs = 1_000 }: Acquisition): number {
  return Math.min(Math.max(nextExpiryMs, 100), 5_000);
}
