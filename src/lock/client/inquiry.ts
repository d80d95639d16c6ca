import type { AcquireAnswer } from '../lock.store.js';
import type { Acquisition } from './acquisition.js';
import type { ClientEnvironment, LockLine } from './client.ports.js';
import { isFinal } from './store.line.js';

export interface InquiryListener {
  /** @param sentAt when the call that is answered was sent */
  answered(acquisition: Acquisition, sentAt: number, answer: AcquireAnswer): void;
  /** The store has something for a token that was given up. */
  undo(key: string, token: string): void;
  /** There will be no answer. */
  unanswered(acquisition: Acquisition, error: unknown): void;
}

/** Asks the store for a lock, with the same token until it answers: if a silent call did run, the store finds what it has. */
export class Inquiry {
  constructor(
    private readonly process: string,
    private readonly environment: ClientEnvironment,
    private readonly line: LockLine,
    private readonly listener: InquiryListener,
  ) {}

  ask(acquisition: Acquisition): void {
    const { token, unanswered, request } = acquisition;
    const sentAt = this.environment.now();
    const call = {};
    unanswered.add(call);
    this.line.acquire(acquisition.command(this.process), (outcome) => {
      const isCurrent = acquisition.token === token && acquisition.state !== 'ended';
      if (outcome.isAnswered) {
        unanswered.delete(call);
        if (isCurrent) this.listener.answered(acquisition, sentAt, outcome.answer);
        else if (isPlace(outcome.answer)) this.listener.undo(request.key, token);
      } else if (isCurrent && acquisition.state === 'asking') this.#askAgain(acquisition, outcome.error);
    });
  }

  #askAgain(acquisition: Acquisition, error: unknown): void {
    acquisition.silence = error;
    if (!acquisition.request.waits || isFinal(error)) {
      this.listener.unanswered(acquisition, error);
      return;
    }
    acquisition.retryTimer?.cancel();
    acquisition.retryTimer = this.environment.after(50 + this.environment.random() * 150, () => {
      if (acquisition.state === 'asking') this.ask(acquisition);
    });
  }
}

function isPlace({ kind }: AcquireAnswer): boolean {
  return kind === 'granted' || kind === 'queued';
}
