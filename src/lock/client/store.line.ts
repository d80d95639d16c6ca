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
import type { ClientEnvironment, ClientTimer, Hear, LockLine } from './client.ports.js';

/** How long one call may take, whatever the store's own client thinks of it. */
const CALL_DEADLINE_MS = 1_000;

/** The way to a real store: each call has its own deadline here, and a late answer is still handed on. */
export class StoreLine implements LockLine {
  readonly #timers = new Set<ClientTimer>();

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

  /** Asks once, within the same deadline. @throws LockStoreError, or the store's own error */
  ask<Answer>(question: () => Promise<Answer>): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.#call(question, (outcome) => {
        if (outcome.isAnswered) resolve(outcome.answer);
        else reject(outcome.error instanceof Error ? outcome.error : new LockStoreError(String(outcome.error)));
      });
    });
  }

  /** Leaves no timer behind. What is still asked is heard only if it is answered. */
  stop(): void {
    for (const timer of this.#timers) timer.cancel();
    this.#timers.clear();
  }

  #call<Answer>(question: () => Promise<Answer>, hear: Hear<Answer>): void {
    const asked = question();
    const timer = this.environment.after(CALL_DEADLINE_MS, () => {
      this.#timers.delete(timer);
      hear({ isAnswered: false, error: new LockStoreError(`no answer within ${CALL_DEADLINE_MS} ms`) });
    });
    this.#timers.add(timer);
    const settle = (): boolean => {
      timer.cancel();
      return this.#timers.delete(timer);
    };
    void asked.then(
      (answer) => {
        settle();
        hear({ isAnswered: true, answer });
      },
      (error: unknown) => {
        if (settle()) hear({ isAnswered: false, error });
      },
    );
  }
}

/** True for a failure that another try can't heal: a wrong type, slot, topology or password. */
export function isFinal(error: unknown): boolean {
  return typeof error === 'object' && error !== null && 'isRetryable' in error && error.isRetryable === false;
}
