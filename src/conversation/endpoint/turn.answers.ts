import { Readable } from 'node:stream';
import { Inject, Injectable } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { ApiError, clientSignal } from '../../http/index.js';
import { CONVERSATION_SETTINGS, type ConversationSettings } from '../conversation.options.js';
import type { Place, Turn } from '../store/index.js';
import { errorOf } from '../turn/turn.errors.js';
import { TurnFeed } from '../turn/turn.feed.js';
import type { AskedTurn } from '../turn/turn.runs.js';
import { turnCard } from './conversation.cards.js';
import { etagOf } from './etag.js';
import { turnStream } from './turn.stream.js';
import type { Exchange } from './exchange.decorator.js';
import type { AnswerBody, TurnCard } from './turn.dto.js';

/** A reader that has taken nothing more by this long after a turn's last moment is cut off, ms. */
const LAST_READ_MS = 5_000;

/** Tells turns to whoever asked for them. Whoever leaves ends the telling and nothing else. */
@Injectable()
export class TurnAnswers {
  constructor(
    private readonly feed: TurnFeed,
    @Inject(CONVERSATION_SETTINGS) private readonly settings: Pick<ConversationSettings, 'requestDeadlineMs'>,
  ) {}

  /** As the request wants it: as events, or when it is over. */
  answer(place: Place, asked: AskedTurn, { stream }: AnswerBody, exchange: Exchange): Promise<TurnCard> | Readable {
    return stream === true
      ? this.events(place, asked.turn.id, undefined, exchange)
      : this.whole(place, asked, exchange);
  }

  /** The turn when it is over. @throws ApiError what it failed with, and the signal's reason */
  async whole(place: Place, { turn, run }: AskedTurn, { request, reply }: Exchange): Promise<TurnCard> {
    const signal = clientSignal(request, reply);
    if (run === undefined) return told(place, await this.#over(place, turn, signal));
    const { turn: ended, conversation } = await orLeft(run.ended, signal);
    void reply.header('etag', etagOf(conversation));
    return told(place, ended);
  }

  /** The turn as it comes, from an event on. */
  events(place: Place, turnId: string, afterId: number | undefined, { request, reply }: Exchange): Readable {
    const items = this.feed.follow(place, turnId, { afterId, signal: clientSignal(request, reply) });
    void reply.headers({
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      // nginx and its kin would collect the stream otherwise.
      'x-accel-buffering': 'no',
    });
    this.#cutLateReader(reply);
    return Readable.from(turnStream(place.id, items), { objectMode: false });
  }

  async #over(place: Place, turn: Turn, signal: AbortSignal): Promise<Turn> {
    return turn.status === 'running' ? this.feed.end(place, turn.id, signal) : turn;
  }

  /** What is sent to nobody must not be kept for ever. */
  #cutLateReader({ raw }: FastifyReply): void {
    const cut = setTimeout(() => raw.destroy(), this.settings.requestDeadlineMs + LAST_READ_MS);
    raw.once('close', () => {
      clearTimeout(cut);
    });
  }
}

/** @returns the last event that a reader knows. @throws ApiError invalid_request */
export function readLastEventId(header: string | string[] | undefined): number | undefined {
  if (header === undefined || header === '') return undefined;
  if (typeof header === 'string' && /^\d{1,15}$/.test(header)) return Number(header);
  throw new ApiError('invalid_request', 'Last-Event-ID must be the id of an event of this turn', {
    param: 'Last-Event-ID',
  });
}

function told({ id }: Place, turn: Turn): TurnCard {
  const error = turn.status === 'failed' ? errorOf(turn) : undefined;
  if (error !== undefined) throw error;
  return turnCard(id, turn);
}

function orLeft<Value>(work: Promise<Value>, signal: AbortSignal): Promise<Value> {
  return new Promise((resolve, reject) => {
    const leave = (): void => {
      reject(signal.reason instanceof Error ? signal.reason : new Error('aborted', { cause: signal.reason }));
    };
    if (signal.aborted) leave();
    signal.addEventListener('abort', leave, { once: true });
    work.then(resolve, reject).finally(() => {
      signal.removeEventListener('abort', leave);
    });
  });
}
