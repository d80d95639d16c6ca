import { Inject, Injectable } from '@nestjs/common';
import { parseObject } from '../../ai/index.js';
import { ApiError } from '../../http/index.js';
import { CONVERSATION_STORE } from '../conversation.options.js';
import type { ConversationStore, Place, Turn } from '../store/index.js';
import { ConversationLocks } from './conversation.locks.js';
import { endError } from './turn.errors.js';
import { TurnObserver } from './turn.observer.js';
import { TurnReply } from './turn.reply.js';

/** Events per question. */
const PAGE = 500;

/** Ends turns whose process is gone: what it had told of the reply is what its reader saw, and is kept as an incomplete message. */
@Injectable()
export class TurnRecovery {
  constructor(
    @Inject(CONVERSATION_STORE) private readonly store: ConversationStore,
    private readonly locks: ConversationLocks,
    private readonly observer: TurnObserver,
  ) {}

  /** @param fence - of the conversation's lock, which is held: so nobody runs it */
  async end(place: Place, turn: Turn, fence: number): Promise<void> {
    const error = turn.isCancelled
      ? undefined
      : new ApiError('internal_error', 'the process that ran this turn ended before its answer was complete', {
          reportedCode: 'turn_interrupted',
        });
    const reply = await this.#told(place, turn.id);
    const answer = await this.store.endTurn(place, turn.id, {
      fence,
      status: 'incomplete',
      messages: [reply.message(false)],
      window: turn.window,
      head: 'as-before',
      error: endError(error),
      events: [{ name: error === undefined ? 'done' : 'error', data: '{}' }],
    });
    if (answer.kind === 'ended') this.observer.recovered(turn.id);
  }

  /** For those who look at a turn that does not go on. */
  async endIfLeft(place: Place, turnId: string): Promise<void> {
    if (await this.locks.isHeld(place)) return;
    const lease = await this.locks.tryAcquire(place);
    if (lease === undefined) return;
    try {
      const turn = await this.store.findTurn(place, turnId);
      if (turn?.status === 'running') await this.end(place, turn, lease.fence);
    } finally {
      await lease.release();
    }
  }

  async #told(place: Place, turnId: string): Promise<TurnReply> {
    const reply = new TurnReply();
    for (let afterId: number | undefined; ;) {
      const page = await this.store.events(place, turnId, { afterId, limit: PAGE, process: undefined });
      for (const { name, data, id } of page?.events ?? []) {
        const chunk = name === 'delta' ? parseObject(data) : undefined;
        if (chunk !== undefined) reply.add(chunk);
        afterId = id;
      }
      if (page === undefined || page.events.length === 0) return reply;
    }
  }
}
