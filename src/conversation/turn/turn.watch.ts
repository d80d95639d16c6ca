import { Inject, Injectable } from '@nestjs/common';
import { ApiError } from '../../http/index.js';
import { CONVERSATION_STORE } from '../conversation.options.js';
import type { ConversationStore, Place, Turn } from '../store/index.js';
import { turnMissing } from './turn.errors.js';
import { TurnFeed } from './turn.feed.js';
import { TurnRecovery } from './turn.recovery.js';

/** How long a cancellation is waited for, ms; it holds where it takes longer. */
const CANCEL_WAIT_MS = 2_000;

/** Turns that were begun, in whatever process: looks them up, and stops them. */
@Injectable()
export class TurnWatch {
  constructor(
    @Inject(CONVERSATION_STORE) private readonly store: ConversationStore,
    private readonly recovery: TurnRecovery,
    private readonly feed: TurnFeed,
  ) {}

  /** One whose process is gone is ended on the way. @throws ApiError not_found */
  async find(place: Place, turnId: string): Promise<Turn> {
    const turn = await this.#find(place, turnId);
    if (turn.status !== 'running') return turn;
    await this.recovery.endIfLeft(place, turnId);
    return this.#find(place, turnId);
  }

  /** One to be read on after an event. @throws ApiError not_found, invalid_request: it has told no such event */
  async findAfter(place: Place, turnId: string, afterId: number | undefined): Promise<Turn> {
    const turn = await this.find(place, turnId);
    if (afterId === undefined || afterId < 1) return turn;
    const page = await this.store.events(place, turnId, { afterId: afterId - 1, limit: 1, process: undefined });
    if (page === undefined) throw turnMissing();
    if (page.events.length > 0 || !page.isWhole) return turn;
    throw new ApiError('invalid_request', 'last-event-id is beyond the last event of this turn', {
      param: 'Last-Event-ID',
    });
  }

  /** Stops it, and waits a moment for its end. What has come of the reply stays. @throws ApiError not_found */
  async cancel(place: Place, turnId: string): Promise<Turn> {
    const answer = await this.store.cancelTurn(place, turnId);
    if (answer === 'missing') throw turnMissing();
    if (answer === 'asked') {
      await this.recovery.endIfLeft(place, turnId);
      await this.#over(place, turnId);
    }
    return this.#find(place, turnId);
  }

  async #over(place: Place, turnId: string): Promise<void> {
    const patience = AbortSignal.timeout(CANCEL_WAIT_MS);
    try {
      await this.feed.end(place, turnId, patience);
    } catch (error) {
      // It was asked for, and is on its way.
      if (!patience.aborted) throw error;
    }
  }

  async #find(place: Place, turnId: string): Promise<Turn> {
    const turn = await this.store.findTurn(place, turnId);
    if (turn === undefined) throw turnMissing();
    return turn;
  }
}
