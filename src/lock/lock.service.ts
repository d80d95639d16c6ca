import type { BeforeApplicationShutdown } from '@nestjs/common';
import { type ClientEnvironment, nodeEnvironment } from '../store/index.js';
import { QUESTION_DEADLINE_MS } from './client/store.line.js';
import { heldInChain, runInLease } from './current-lease.js';
import type { Hold } from './hold.js';
import { Lease } from './lease.js';
import { LockBusyError, type LockHolder, LockOptionsError } from './lock.errors.js';
import { type LockObserver, SILENT_OBSERVER } from './lock.observer.js';
import {
  checkGrace,
  checkOptionsObject,
  covers,
  type LockMode,
  type LockOptions,
  nameOfMode,
  resolveLockKeys,
  resolveLockOptions,
} from './lock.options.js';
import { LockProcess } from './lock.process.js';
import type { LockState, LockStore, RevokeCommand } from './lock.store.js';
import { storeError } from './waiting.js';

export interface LockServiceOptions {
  /** For every lock of this process, where a call does not say otherwise. */
  readonly defaults?: Partial<LockOptions>;
  /** How long holders may go on after the shutdown began, ms. Default 10 000. */
  readonly graceMs?: number;
  readonly observer?: LockObserver;
  /** Time, timers and chance; the real ones by default. */
  readonly environment?: ClientEnvironment;
}

/** What is done under a lock. */
export type LeaseWork<Result> = (lease: Lease) => Result | Promise<Result>;

const DEFAULT_GRACE_MS = 10_000;

/**
 * Locks that hold across all processes on one store: fair, told of their loss by the clock, released on shutdown.
 *
 * Reentrant along the chain of calls inside `withLock()`: whoever takes a key again that the chain holds gets it at once, and it is
 * released with the last of them: its lease, limits and description are those that the outermost asked for, and those of the inner
 * calls count for nothing. Work that was left behind without being awaited counts as inside only while the lease is held.
 * What `acquire()` returned is not part of the chain: pass it on, or use `withLock()`.
 */
export class LockService implements BeforeApplicationShutdown {
  readonly #process: LockProcess;
  readonly #environment: ClientEnvironment;
  readonly #defaults: Partial<LockOptions>;

  /** @throws LockOptionsError if the defaults or the grace are no good */
  constructor(
    private readonly store: LockStore,
    options: LockServiceOptions = {},
  ) {
    checkOptionsObject('options of LockService', options);
    const { defaults = {}, environment = nodeEnvironment(), observer = SILENT_OBSERVER } = options;
    const { graceMs = DEFAULT_GRACE_MS } = options;
    this.#environment = environment;
    this.#defaults = defaults;
    resolveLockOptions({}, this.#defaults);
    checkGrace(graceMs);
    this.#process = new LockProcess(store, { environment, observer, graceMs });
  }

  /** What this process is called in `LockState`: the machine's name and what makes it unique, another one after each start. */
  get process(): string {
    return this.#process.client.process;
  }

  /**
   * Takes one lock, or several: sorted, one after the other, all or none.
   * @throws LockBusyError with `waitMs: 0`, LockTimeoutError after the wait, LockStoreError, LockClosedError during the shutdown,
   *   LockLostError if an earlier key was lost while waiting for a later one, LockOptionsError, or the signal's reason
   */
  async acquire(keys: string | readonly string[], options: LockOptions = {}): Promise<Lease> {
    try {
      return await this.#take(keys, options);
    } catch (error) {
      throw error instanceof LockBusyError ? await this.#withHolder(error) : error;
    }
  }

  /** As `acquire()` without any wait, and without a word about the holder. @returns undefined: somebody has it, or is next */
  async tryAcquire(keys: string | readonly string[], options: LockOptions = {}): Promise<Lease | undefined> {
    try {
      checkOptionsObject('lock options', options);
      return await this.#take(keys, Object.assign({}, options, { waitMs: 0 }));
    } catch (error) {
      if (error instanceof LockBusyError) return undefined;
      throw error;
    }
  }

  /**
   * Runs work under a lock and releases it on every way out. The work's own error is what the caller gets, unchanged.
   * @throws LockLostError if a lock was lost although the work finished; its `result` is what the work returned. The work learns of
   *   a loss by `lease.signal` and is waited for: work that ignores it holds the call, but not the lock
   * @throws what `acquire()` throws
   *
   * @example
   * await locks.withLock(`order:${id}`, { waitMs: 5_000 }, async (lease) => pay(id, lease.fence));
   */
  withLock<Result>(keys: string | readonly string[], work: LeaseWork<Result>): Promise<Result>;
  withLock<Result>(keys: string | readonly string[], options: LockOptions, work: LeaseWork<Result>): Promise<Result>;
  async withLock<Result>(
    keys: string | readonly string[],
    ...rest: [LeaseWork<Result>] | [LockOptions, LeaseWork<Result>]
  ): Promise<Result> {
    const [options, work] = rest.length === 1 ? [{}, rest[0]] : rest;
    if (typeof work !== 'function') throw new LockOptionsError('withLock() needs the work to be done, as a function');
    const lease = await this.acquire(keys, options);
    let result: Result;
    try {
      result = await runInLease(lease, () => work(lease));
    } finally {
      await lease.release();
    }
    lease.throwIfLost(result);
    return result;
  }

  /** Who holds a lock and who waits; undefined: nobody. For operators: it may have changed by now. @throws LockStoreError */
  inspect(key: string): Promise<LockState | undefined> {
    return this.#ask(() => this.store.inspect(key));
  }

  /** Locks that are held or waited for, at most `limit`, in no order. @throws LockStoreError */
  list(limit = 100): Promise<readonly LockState[]> {
    return this.#ask((signal) => this.store.list(limit, signal));
  }

  /**
   * Takes a lock from its holders and tells them.
   * @param how `drain` (default): a live holder lets go at once, a dead one's lease is not renewed and ends by itself, so nobody
   *   works beside the holder. `now`: the next one gets it at once, beside a holder that has not heard yet; fences tell them apart.
   *   `token`: only this holder
   * @returns how many holders it had
   * @throws LockOptionsError, LockStoreError
   */
  async forceRelease(
    key: string,
    how: { readonly mode?: RevokeCommand['mode']; readonly token?: string } = {},
  ): Promise<number> {
    const { mode = 'drain', token } = how;
    checkRevocation(mode, token);
    const { revoked } = await this.#ask(() => this.store.revoke({ key, token, mode }));
    return revoked;
  }

  /**
   * Ends the part of this process: no new locks, waiters get LockClosedError, holders may finish up to the grace, then their signal
   * aborts and their locks are released. Resolves when the store has confirmed; nothing is left behind. Never rejects.
   *
   * @param graceMs what is left of the process's grace where others have had a part of it; default: that of the options. The first
   *   call decides
   */
  close(graceMs?: number): Promise<void> {
    return this.#process.close(graceMs);
  }

  /** Before any module's connections close, in whatever order the modules were imported. */
  beforeApplicationShutdown(): Promise<void> {
    return this.close();
  }

  async #take(keys: string | readonly string[], given: LockOptions): Promise<Lease> {
    const options = resolveLockOptions(given, this.#defaults);
    const [firstKey, ...otherKeys] = resolveLockKeys(keys);
    const startedAt = this.#environment.now();
    const holds: Hold[] = [];
    const next = (key: string): Hold | Promise<Hold> => {
      const waitMs = Math.max(0, options.waitMs - (this.#environment.now() - startedAt));
      return this.#again(key, options.mode) ?? this.#process.take({ key, options, waitMs }, holds);
    };
    try {
      const first = await next(firstKey);
      holds.push(first);
      for (const key of otherKeys) holds.push(await next(key));
      for (const hold of holds) hold.assertHeld();
      return new Lease(first, ...holds.slice(1));
    } catch (error) {
      for (const hold of holds) hold.forgoMinimum();
      await Promise.all(holds.map((hold) => hold.release()));
      throw error;
    }
  }

  /** @throws LockOptionsError where the chain holds it in a mode that gives less */
  #again(key: string, mode: LockMode): Hold | undefined {
    const hold = heldInChain(this.#process.client, key);
    if (hold === undefined) return undefined;
    if (!covers(hold.mode, mode)) {
      const [held, wanted] = [nameOfMode(hold.mode), nameOfMode(mode)];
      throw new LockOptionsError(
        `lock "${key}" is held as ${held} by this chain of calls and can't be taken as ${wanted} inside it`,
      );
    }
    return hold.enter();
  }

  async #withHolder({ key, retryAfterMs }: LockBusyError): Promise<LockBusyError> {
    return new LockBusyError(key, await this.#holderOf(key), retryAfterMs);
  }

  async #holderOf(key: string): Promise<LockHolder | undefined> {
    try {
      return (await this.#process.line.ask(() => this.store.inspect(key, 1)))?.holders[0];
    } catch {
      // That it is busy is known; by whom is a courtesy.
      return undefined;
    }
  }

  async #ask<Answer>(question: (signal: AbortSignal) => Promise<Answer>): Promise<Answer> {
    try {
      return await this.#process.line.ask(question, QUESTION_DEADLINE_MS);
    } catch (error) {
      throw storeError(error);
    }
  }
}

/** What a type can't keep out would take the lock from more holders than was meant. @throws LockOptionsError */
function checkRevocation(mode: unknown, token: unknown): void {
  if (mode !== 'drain' && mode !== 'now') throw new LockOptionsError(`mode must be drain or now, not ${String(mode)}`);
  if (token !== undefined && typeof token !== 'string') {
    throw new LockOptionsError(
      `token must be a text, or left out for every holder; this one is of type ${typeof token}`,
    );
  }
}
