import { Inject, Injectable } from '@nestjs/common';
import { CONVERSATION_STORE } from '../conversation.options.js';
import type { ConversationStore, EventPage, Place, Turn } from '../store/index.js';
import { turnMissing } from './turn.errors.js';
import { TurnNews } from './turn.news.js';
import { TurnRecovery } from './turn.recovery.js';
import { TurnRunner } from './turn.runner.js';

/** Events per question. */
const PAGE = 200;

/** What a reader of a turn is told. The last one is an `end`. */
export type FeedItem =
  | { readonly kind: 'turn'; readonly id: number; readonly turn: Turn }
  /** JSON of a chat.completion.chunk. */
  | { readonly kind: 'delta'; readonly id: number; readonly data: string }
  | { readonly kind: 'end'; readonly id: number; readonly turn: Turn }
  /** Nothing is new: to keep a connection alive. */
  | { readonly kind: 'quiet' };

export interface FollowOptions {
  /** Undefined: from the first event. */
  readonly afterId: number | undefined;
  readonly signal: AbortSignal;
}

/** What was told of a turn so far and what is told of it from now on, whichever process runs it. */
@Injectable()
export class TurnFeed {
  constructor(
    @Inject(CONVERSATION_STORE) private readonly store: ConversationStore,
    private readonly news: TurnNews,
    private readonly recovery: TurnRecovery,
    private readonly runner: TurnRunner,
  ) {}

  /** @throws ApiError not_found, StoreError, the signal's reason */
  async *follow(place: Place, turnId: string, { afterId, signal }: FollowOptions): AsyncGenerator<FeedItem> {
    const pulse = this.news.pulse(turnId, signal);
    try {
      for (let after = afterId; ;) {
        const page = await this.#page(place, turnId, after);
        yield* this.#told(place, turnId, page);
        after = page.events.at(-1)?.id ?? after;
        if (isLast(page)) {
          yield { kind: 'end', id: after ?? 1, turn: await this.#released(place, turnId) };
          return;
        }
        if (page.events.length > 0 || (await pulse.next())) continue;
        await this.recovery.endIfLeft(place, turnId);
        yield { kind: 'quiet' };
      }
    } finally {
      pulse.close();
    }
  }

  /** Waits for the end. @throws as follow() */
  async end(place: Place, turnId: string, signal: AbortSignal): Promise<Turn> {
    const pulse = this.news.pulse(turnId, signal);
    try {
      for (;;) {
        const { status } = await this.#page(place, turnId, Number.MAX_SAFE_INTEGER - 1);
        if (status !== 'running') return await this.#released(place, turnId);
        if (!(await pulse.next())) await this.recovery.endIfLeft(place, turnId);
      }
    } finally {
      pulse.close();
    }
  }

  /** What is left of a torn answer would only mislead: its end tells all of it. */
  async *#told(place: Place, turnId: string, page: EventPage): AsyncGenerator<FeedItem> {
    if (page.status !== 'running' && !page.isWhole) return;
    for (const { id, name, data } of page.events) {
      if (name === 'delta') yield { kind: 'delta', id, data };
      else if (name === 'turn') yield { kind: 'turn', id, turn: await this.#turn(place, turnId) };
    }
  }

  async #page(place: Place, turnId: string, afterId: number | undefined): Promise<EventPage> {
    const { process } = this.news;
    const page = await this.store.events(place, turnId, { afterId, limit: PAGE, process });
    if (page === undefined) throw turnMissing();
    return page;
  }

  async #turn(place: Place, turnId: string): Promise<Turn> {
    const turn = await this.store.findTurn(place, turnId);
    if (turn === undefined) throw turnMissing();
    return turn;
  }

  /** Told of its end, its reader may begin the next one: so its lock is free by then. */
  async #released(place: Place, turnId: string): Promise<Turn> {
    await this.runner.released(turnId);
    return this.#turn(place, turnId);
  }
}

function isLast({ status, events, isWhole }: EventPage): boolean {
  return status !== 'running' && (events.length < PAGE || !isWhole);
}
