import { AdmissionStoreError } from '../admission.errors.js';
import type { AdmissionStore } from '../admission.store.js';
import { BriefMap, type ClientEnvironment } from '../../store/index.js';

/** How long one call may take, ms, whatever the store's own client thinks of it. */
const CALL_DEADLINE_MS = 1_000;

/** The way to a store: each call has its own deadline here, and the news of a late answer are still handed on. */
export class StoreLine {
  /** End a call without an answer. */
  readonly #open = new BriefMap<number, (error: AdmissionStoreError) => void>();
  #asked = 0;

  constructor(
    private readonly store: AdmissionStore,
    private readonly environment: ClientEnvironment,
  ) {}

  /**
   * Asks once.
   * @param hear of every answer, also of one that nobody waits for any more, before the promise settles
   * @throws AdmissionStoreError, or the store's own error
   */
  ask<Answer>(
    question: (store: AdmissionStore) => Promise<Answer>,
    hear: (answer: Answer) => void = () => undefined,
  ): Promise<Answer> {
    const asked = (async () => question(this.store))();
    const number = (this.#asked += 1);
    return new Promise((resolve, reject) => {
      const close = (): boolean => {
        timer.cancel();
        return this.#open.delete(number);
      };
      const fail = (error: unknown): void => {
        if (close()) reject(error instanceof Error ? error : new AdmissionStoreError(String(error)));
      };
      const timer = this.environment.after(CALL_DEADLINE_MS, () => {
        fail(new AdmissionStoreError(`no answer within ${String(CALL_DEADLINE_MS)} ms`));
      });
      this.#open.set(number, fail);
      asked.then((answer) => {
        close();
        hear(answer);
        resolve(answer);
      }, fail);
    });
  }

  /** Leaves no timer behind: whatever is open ends without an answer now. */
  stop(): void {
    for (const fail of [...this.#open.values()]) fail(new AdmissionStoreError('this process is shutting down'));
  }
}
