import type { Hold } from './hold.js';
import { LockLostError, LockOptionsError } from './lock.errors.js';
import { checkExtension } from './lock.options.js';

/**
 * A lock, or several, held until released or lost. Renewed by itself; it counts as lost at its own deadline, by this machine's
 * clock, also while the store is silent.
 *
 * @example
 * await using lease = await locks.acquire('report:2026-11', { waitMs: 5_000 });
 * await build({ signal: lease.signal });
 * lease.assertHeld();
 * await save({ fence: lease.fence });
 */
export class Lease implements AsyncDisposable {
  /** Made for whoever looks at the signal: few do, and it is the dearest part of a lease. */
  #controller: AbortController | undefined;
  #alarm: LockLostError | undefined;
  readonly #silence: (() => void)[];
  #isReleased = false;

  /** One for each key, in the order of `keys`. @internal */
  readonly holds: readonly Hold[];

  /** @internal Made by LockService. */
  constructor(
    private readonly first: Hold,
    ...others: readonly Hold[]
  ) {
    this.holds = [first, ...others];
    this.#silence = this.holds.map((hold) =>
      hold.onAlarm((error) => {
        this.#alarm ??= error;
        this.#controller?.abort(error);
      }),
    );
  }

  /** The first of the keys. */
  get key(): string {
    return this.first.key;
  }

  /** Sorted, without repetition. */
  get keys(): readonly string[] {
    return this.holds.map((hold) => hold.key);
  }

  /** Unique in the fleet; of the first key. */
  get token(): string {
    return this.first.token;
  }

  /** Rises with every grant of the key; of the first key. Whoever stores something under the lock stores and compares it. */
  get fence(): number {
    return this.first.fence;
  }

  /** @throws LockOptionsError for a key that this lease does not have */
  fenceOf(key: string): number {
    const hold = this.holds.find((one) => one.key === key);
    if (hold === undefined) throw new LockOptionsError(`lock "${key}" is none of this lease: ${this.keys.join(', ')}`);
    return hold.fence;
  }

  /** Aborts with a LockLostError when the lease is lost, or when the process shuts down and the work must end; not on release. */
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#alarm !== undefined) this.#controller.abort(this.#alarm);
    }
    return this.#controller.signal;
  }

  get isReleased(): boolean {
    return this.#isReleased;
  }

  /** Whether it is held now, by the clock. */
  get isHeld(): boolean {
    return !this.#isReleased && this.holds.every((hold) => hold.isValid);
  }

  /** Until it would be lost without a further renewal, ms; 0 if it is not held. */
  remainingMs(): number {
    return this.#isReleased ? 0 : Math.min(...this.holds.map((hold) => hold.remainingMs));
  }

  /**
   * To be called right before whatever must not be done twice: looks at the clock, so it also knows after the process was blocked.
   * @throws LockLostError
   */
  assertHeld(): void {
    if (this.#isReleased) throw new LockLostError(this.key, 'released', { fence: this.fence });
    for (const hold of this.holds) hold.assertHeld();
  }

  /**
   * Makes the lease at least that long, counted from now, and so with each later renewal; never shorter, never beyond maxHoldMs.
   * @throws LockLostError if it is not held any more
   * @throws LockStoreError if the store did not answer; the extension is tried again with the next renewals
   */
  async extend(ms: number): Promise<void> {
    checkExtension(ms);
    this.assertHeld();
    await Promise.all(this.holds.map((hold) => hold.extend(Math.ceil(ms))));
  }

  /**
   * Ends the lease; it is not held from this call on. Never throws.
   * @returns false: it had been lost, or the store has not answered yet. It is told until it does, and a further call says whether
   */
  async release(): Promise<boolean> {
    const isFirst = !this.#isReleased;
    this.#isReleased = true;
    for (const silence of this.#silence) silence();
    const outcomes = await Promise.all(this.holds.map((hold) => (isFirst ? hold.release() : hold.released())));
    return outcomes.every((isConfirmed) => isConfirmed);
  }

  /** Called when it is released, before the store is told. @internal */
  onRelease(listener: () => void): void {
    this.#silence.push(listener);
  }

  /** Ends it before any work has begun: no key stays held for its minimum time. @internal */
  async giveBack(): Promise<void> {
    for (const hold of this.holds) hold.forgoMinimum();
    await this.release();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.release().then(() => undefined);
  }

  /** @internal @throws LockLostError with the result of work that finished although a key was lost */
  throwIfLost(result: unknown): void {
    for (const { key, fence, loss } of this.holds) {
      if (loss !== undefined) throw new LockLostError(key, loss, { fence, result });
    }
  }
}
