import type { Acquisition, LossReason } from './client/acquisition.js';
import type { FarewellOutcome } from './client/farewells.js';
import type { LockClient } from './client/lock.client.js';
import { type LeaseEnd, LockLostError, LockStoreError } from './lock.errors.js';
import type { LockMode } from './lock.options.js';

/** One key that this process holds, for one lease or, by reentrancy, for several: the last one to leave releases it. */
export class Hold {
  #users = 1;
  #end: LeaseEnd | undefined;
  /** Whether the store confirmed the release; undefined until it is known. */
  #isConfirmed: boolean | undefined;
  readonly #alarms = new Set<(error: LockLostError) => void>();

  /** @param onEnd called once, when it is not held any more */
  constructor(
    readonly client: LockClient,
    private readonly acquisition: Acquisition,
    readonly mode: LockMode,
    private readonly onEnd: (hold: Hold, end: LeaseEnd) => void,
  ) {}

  get key(): string {
    return this.acquisition.request.key;
  }

  get token(): string {
    return this.acquisition.token;
  }

  get fence(): number {
    return this.acquisition.fence;
  }

  /** By the clock. What is seen to be over is lost for good: no renewal that is on its way brings it back. */
  get isValid(): boolean {
    if (this.client.isValid(this.acquisition)) return true;
    if (this.#end === undefined) {
      const { deadline, holdEnd } = this.acquisition;
      this.#takeAway(deadline >= holdEnd ? 'max_hold' : 'expired');
    }
    return false;
  }

  get remainingMs(): number {
    return this.isValid ? this.client.remainingMs(this.acquisition) : 0;
  }

  /** How it was lost; undefined while it is held and after an orderly release. */
  get loss(): LeaseEnd | undefined {
    return this.#end === 'released' ? undefined : this.#end;
  }

  /** One more lease of the same chain of calls. */
  enter(): this {
    this.#users += 1;
    return this;
  }

  /** Calls when it is lost, or should be given up. @returns takes the callback off */
  onAlarm(alarm: (error: LockLostError) => void): () => void {
    this.#alarms.add(alarm);
    return () => this.#alarms.delete(alarm);
  }

  /** Asks the work to end; still held. */
  alarm(reason: LeaseEnd): void {
    const error = new LockLostError(this.key, reason, { fence: this.fence });
    for (const alarm of [...this.#alarms]) alarm(error);
  }

  lose(reason: LossReason): void {
    this.#isConfirmed = false;
    this.#finish(reason);
  }

  /** Releases it although its work goes on. */
  takeAway(): void {
    this.#takeAway('closing');
  }

  /** @throws LockLostError */
  assertHeld(): void {
    if (this.isValid) return;
    throw new LockLostError(this.key, this.#end ?? 'expired', { fence: this.fence });
  }

  /** One lease leaves. @returns true: the store, or another lease, has it as it should be; false: lost, or not yet confirmed */
  release(): Promise<boolean> {
    if (this.#users > 1) {
      this.#users -= 1;
      return Promise.resolve(this.isValid);
    }
    this.#users = 0;
    return this.#letGo();
  }

  /** No work was begun under its only lease: it need not stay held for its minimum time. */
  forgoMinimum(): void {
    if (this.#users === 1) this.acquisition.forgoMinimum();
  }

  /** As `release()`, for a lease that has left before. */
  async released(): Promise<boolean> {
    return this.#users > 0 ? this.isValid : this.#letGo();
  }

  /** @throws LockLostError, LockStoreError */
  extend(leaseMs: number): Promise<void> {
    return new Promise((resolve, reject) => {
      this.client.extend(this.acquisition, leaseMs, (outcome) => {
        if (outcome === 'extended') resolve();
        else if (outcome === 'lost') reject(new LockLostError(this.key, this.#end ?? 'expired', { fence: this.fence }));
        else reject(new LockStoreError(`the extension of lock "${this.key}" was not answered`));
      });
    });
  }

  /** Asks, or joins the asking that goes on. */
  #letGo(): Promise<boolean> {
    // Seen to be over, it is lost, and that is known.
    if (!this.isValid && this.#isConfirmed !== undefined) return Promise.resolve(this.#isConfirmed);
    return new Promise((resolve) => {
      const isOpen = this.client.release(this.acquisition, (outcome) => {
        resolve(this.#hear(outcome));
      });
      if (!isOpen) this.#isConfirmed = false;
      this.#finish('released');
      if (!isOpen) resolve(false);
    });
  }

  #hear(outcome: FarewellOutcome): boolean {
    if (outcome.kind === 'silent') {
      // It is said again: whoever asks later shall know.
      this.client.release(this.acquisition, (later) => this.#hear(later));
      return false;
    }
    // "unknown" after a silence: the call that was not answered did it.
    this.#isConfirmed = outcome.answer === 'holder' || outcome.isRepeated;
    if (!this.#isConfirmed) this.#end = 'gone';
    return this.#isConfirmed;
  }

  #takeAway(end: LeaseEnd): void {
    this.client.release(this.acquisition, () => undefined);
    this.#isConfirmed = false;
    this.#finish(end);
  }

  #finish(end: LeaseEnd): void {
    if (this.#end !== undefined) return;
    this.#end = end;
    if (end !== 'released') this.alarm(end);
    this.#alarms.clear();
    this.onEnd(this, end);
  }
}
