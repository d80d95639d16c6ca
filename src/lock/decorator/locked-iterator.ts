import { runInLease } from '../current-lease.js';
import type { Lease } from '../lease.js';
import { endAfter, type LockedCall, takeFor, workUnder } from './locked-call.js';

export interface OpenIterator {
  readonly lease: Lease;
  readonly iterator: AsyncIterator<unknown, unknown, unknown>;
}

/** @returns undefined: there is nothing to iterate, the call is skipped */
export type IteratorOpening = (signal: AbortSignal) => Promise<OpenIterator | undefined>;

type Step = Promise<IteratorResult<unknown, unknown>>;

/** Takes the lock and calls the method with the first step, and holds it until the iteration ends or its consumer leaves. */
export function lockIterable(call: LockedCall): AsyncGenerator {
  return new LockedIterator(async (signal) => {
    const lease = await takeFor(call, signal);
    if (lease === undefined) return undefined;
    const result = await workUnder(lease, call.work);
    if (isAsyncIterable(result)) return { lease, iterator: result[Symbol.asyncIterator]() };
    await lease.release();
    throw new TypeError('a method under @WithLock() was to return an async iterable');
  });
}

export function isAsyncIterable(value: unknown): value is AsyncIterable<unknown, unknown, unknown> {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value;
}

/** The steps of another iterator, each of them inside of the lease; the lease ends with the last one. */
export class LockedIterator implements AsyncGenerator<unknown, unknown, unknown> {
  readonly #leaving = new AbortController();
  #opened: Promise<OpenIterator | undefined> | undefined;
  #isOver = false;

  constructor(private readonly open: IteratorOpening) {}

  next(...given: [] | [unknown]): Step {
    if (this.#isOver) return Promise.resolve({ done: true, value: undefined });
    return this.#step((iterator) => iterator.next(...given));
  }

  /** Also ends the wait for the lock. */
  async return(value?: unknown): Step {
    this.#isOver = true;
    this.#leaving.abort();
    const opened = await this.#opened?.catch(() => undefined);
    if (opened === undefined) return { done: true, value: await value };
    const { lease, iterator } = opened;
    try {
      return (await runInLease(lease, () => iterator.return?.(value))) ?? { done: true, value };
    } finally {
      await lease.release();
    }
  }

  async throw(error: unknown): Step {
    if (!this.#isOver && this.#opened !== undefined) {
      return this.#step((iterator) => iterator.throw?.(error) ?? Promise.reject(toError(error)));
    }
    this.#isOver = true;
    throw error;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.return();
  }

  async #step(move: (iterator: OpenIterator['iterator']) => Step): Step {
    const opened = await this.#begin();
    if (opened === undefined) return { done: true, value: undefined };
    const { lease, iterator } = opened;
    await this.#leaveIfLost(lease);
    let step: IteratorResult<unknown, unknown>;
    try {
      step = await runInLease(lease, () => move(iterator));
    } catch (error) {
      this.#isOver = true;
      await lease.release();
      throw error;
    }
    if (step.done === true) {
      this.#isOver = true;
      await endAfter(lease, step.value);
    } else {
      await this.#leaveIfLost(lease);
    }
    return step;
  }

  /** Nothing goes on without the lock: the source may clean up, and the consumer hears of the loss. */
  async #leaveIfLost(lease: Lease): Promise<void> {
    if (!lease.signal.aborted) return;
    await this.return();
    throw toError(lease.signal.reason);
  }

  async #begin(): Promise<OpenIterator | undefined> {
    try {
      this.#opened ??= this.open(this.#leaving.signal);
      return await this.#opened;
    } catch (error) {
      // Who left in the meantime asked for this.
      if (this.#leaving.signal.aborted && error === this.#leaving.signal.reason) return undefined;
      this.#isOver = true;
      throw error;
    }
  }
}

/** What a signal was aborted with, to be thrown. */
export function toError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error(String(reason));
}
