import { LockStoreError } from '../lock.errors.js';
import type {
  AcquireAnswer,
  AcquireCommand,
  BeatAnswer,
  BeatCommand,
  LeaveAnswer,
  LeaveCommand,
  LockStore,
} from '../lock.store.js';
import type { ClientEnvironment, Hear, LockLine, Outcome } from './client.ports.js';

/** How long one call may take, whatever the store's own client thinks of it. */
const CALL_DEADLINE_MS = 1_000;
/** How long an operator's question may take, which may be many calls. */
export const QUESTION_DEADLINE_MS = 8_000;

/** The way to a real store: each call has its own deadline here, and a late answer is still handed on. */
export class StoreLine implements LockLine {
  /** Ends a call without an answer. */
  readonly #open = new Set<(error: unknown) => void>();

  constructor(
    private readonly store: LockStore,
    private readonly environment: ClientEnvironment,
  ) {}

  acquire(command: AcquireCommand, hear: Hear<AcquireAnswer>): void {
    this.#call(async () => this.store.acquire(command), hear);
  }

  beat(command: BeatCommand, hear: Hear<BeatAnswer>): void {
    this.#call(async () => this.store.beat(command), hear);
  }

  leave(command: LeaveCommand, hear: Hear<LeaveAnswer>): void {
    this.#call(async () => this.store.leave(command), hear);
  }

  /**
   * Asks once.
   * @param question its signal aborts when nobody waits for the answer any more
   * @throws LockStoreError, or the store's own error
   */
  ask<Answer>(
    question: (signal: AbortSignal) => Promise<Answer>,
    deadlineMs: number = CALL_DEADLINE_MS,
  ): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const leaving = new AbortController();
      const hear = (outcome: Outcome<Answer>): void => {
        if (outcome.isAnswered) {
          resolve(outcome.answer);
          return;
        }
        leaving.abort(outcome.error);
        reject(outcome.error instanceof Error ? outcome.error : new LockStoreError(String(outcome.error)));
      };
      this.#call(async () => question(leaving.signal), hear, deadlineMs);
    });
  }

  /** Leaves no timer behind: whatever is open ends without an answer now. */
  stop(): void {
    for (const end of [...this.#open]) end(new LockStoreError('this process is shutting down'));
  }

  #call<Answer>(question: () => Promise<Answer>, hear: Hear<Answer>, deadlineMs = CALL_DEADLINE_MS): void {
    const asked = question();
    const end = (error: unknown): void => {
      if (settle()) hear({ isAnswered: false, error });
    };
    const timer = this.environment.after(deadlineMs, () => {
      end(new LockStoreError(`no answer within ${deadlineMs} ms`));
    });
    const settle = (): boolean => {
      timer.cancel();
      return this.#open.delete(end);
    };
    this.#open.add(end);
    void asked.then((answer) => {
      settle();
      hear({ isAnswered: true, answer });
    }, end);
  }
}

/** True for a failure that another try can't heal: a wrong type, slot, topology or password. */
export function isFinal(error: unknown): boolean {
  return typeof error === 'object' && error !== null && 'isRetryable' in error && error.isRetryable === false;
}
