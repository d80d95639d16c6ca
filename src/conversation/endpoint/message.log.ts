import { Inject, Injectable } from '@nestjs/common';
import { CONVERSATION_STORE } from '../conversation.options.js';
import {
  type Conversation,
  type ConversationStore,
  type ExpectedVersion,
  type Place,
  readLog,
} from '../store/index.js';
import { ConversationLocks } from '../turn/conversation.locks.js';
import { conversationChanged, conversationMissing, turnInProgress } from '../turn/turn.errors.js';
import { conversationCard, messageCard } from './conversation.cards.js';
import type { ListMessagesQuery, MessageObjectList } from './message.dto.js';

/** How long a turn that has just ended is waited for before the log is cleared, ms. */
const CLEAR_WAIT_MS = 1_000;

/** The log of a conversation, as its owner sees it. */
@Injectable()
export class MessageLog {
  constructor(
    @Inject(CONVERSATION_STORE) private readonly store: ConversationStore,
    private readonly locks: ConversationLocks,
  ) {}

  /** Those of the running turn come last, where there is room for them. @throws ApiError not_found */
  async list(place: Place, { after = '0', limit }: ListMessagesQuery): Promise<MessageObjectList> {
    const afterSeq = Number(after.slice(after.lastIndexOf('_') + 1));
    const page = await this.store.messages(place, { afterSeq, limit });
    if (page === undefined) throw conversationMissing();
    const pending = page.hasMore ? [] : page.pending.filter(({ seq }) => seq > afterSeq);
    const all = [...page.messages, ...pending];
    const data = all.slice(0, limit).map(messageCard);
    return {
      object: 'list',
      data,
      has_more: page.hasMore || all.length > limit,
      last_id: data.at(-1)?.id ?? null,
    };
  }

  /** @throws ApiError not_found, conversation_changed, turn_in_progress */
  async clear(place: Place, expected: ExpectedVersion | undefined): Promise<Conversation> {
    if ((await this.store.find(place)) === undefined) throw conversationMissing();
    const lease = await this.locks.acquire(place, { waits: false, waitMs: CLEAR_WAIT_MS });
    try {
      const cleared = await this.store.clear(place, lease.fence, expected);
      if (cleared === 'missing') throw conversationMissing();
      if (cleared === 'changed') throw conversationChanged();
      if (cleared === 'fenced' || cleared === 'busy') throw turnInProgress(undefined, 1_000);
      return cleared;
    } finally {
      await lease.release();
    }
  }

  /** All of it as JSON lines: the conversation, then each message. @throws ApiError not_found, before the first line only */
  async lines(place: Place): Promise<AsyncGenerator<string>> {
    const conversation = await this.store.find(place);
    if (conversation === undefined) throw conversationMissing();
    return this.#lines(place, conversation);
  }

  async *#lines(place: Place, conversation: Conversation): AsyncGenerator<string> {
    yield `${JSON.stringify(conversationCard(conversation))}\n`;
    for await (const page of readLog(this.store, place)) {
      yield page.map((message) => `${JSON.stringify(messageCard(message))}\n`).join('');
    }
  }
}
