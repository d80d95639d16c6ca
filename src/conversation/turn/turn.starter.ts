import { Inject, Injectable } from '@nestjs/common';
import { ApiError } from '../../http/index.js';
import type { Lease } from '../../lock/index.js';
import { StoreError } from '../../store/index.js';
import { CONVERSATION_STORE } from '../conversation.options.js';
import { type ConversationStore, newTurnToken, type StartAnswer, type Turn, type TurnStart } from '../store/index.js';
import { checkToolResults, type TurnAsk, type TurnInput } from './turn.ask.js';
import { conversationChanged, conversationMissing, turnInProgress } from './turn.errors.js';
import type { TurnModel } from './turn.model.js';
import { type TurnPlan, TurnPlanner } from './turn.planner.js';
import { TurnNews } from './turn.news.js';
import { TurnRecovery } from './turn.recovery.js';

/** Turns that others left running are ended so often before one of our own begins. */
const MOST_RECOVERIES = 3;

export interface BegunTurn {
  readonly turn: Turn;
  /** Undefined: the key was used for this turn, which is not ours to run. */
  readonly plan: TurnPlan | undefined;
}

/** Brings a turn into the store, under the conversation's lock. */
@Injectable()
export class TurnStarter {
  constructor(
    @Inject(CONVERSATION_STORE) private readonly store: ConversationStore,
    private readonly planner: TurnPlanner,
    private readonly recovery: TurnRecovery,
    private readonly news: TurnNews,
  ) {}

  /**
   * Plans its window first: what does not fit leaves nothing behind.
   *
   * @throws ApiError for every refusal
   */
  async begin(ask: TurnAsk, input: TurnInput, model: TurnModel, lease: Lease): Promise<BegunTurn> {
    const { place } = ask;
    const { messages, parameters, replaces } = input;
    for (let recoveries = 0; recoveries < MOST_RECOVERIES; recoveries += 1) {
      const supersedes = replaces === undefined ? {} : { supersedesFrom: replaces.supersedesFrom };
      const plan = await this.planner.plan({ place, model, parameters, messages, ...supersedes });
      checkToolResults(messages, plan.list.cards);
      const answer = await this.#start(ask, this.#startOf(ask, input, { model, plan, lease }));
      if (answer.kind === 'started') return { turn: answer.turn, plan };
      if (answer.kind === 'known') return { turn: sameTurn(answer), plan: undefined };
      if (answer.kind !== 'left') throw refusal(answer.kind, ask);
      await this.recovery.end(place, answer.turn, lease.fence);
    }
    throw turnInProgress(undefined, 0);
  }

  /** Asked again where the answer was lost: the same token finds what was begun. */
  async #start({ place }: TurnAsk, start: TurnStart): Promise<StartAnswer> {
    try {
      return await this.store.startTurn(place, start);
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      return this.store.startTurn(place, start);
    }
  }

  #startOf(
    { key, ifVersion }: TurnAsk,
    { parameters, replaces }: TurnInput,
    { model, plan, lease }: { readonly model: TurnModel; readonly plan: TurnPlan; readonly lease: Lease },
  ): TurnStart {
    const [first, ...rest] = plan.counts.messages;
    if (first === undefined) throw new Error('a turn begins with a message');
    return {
      token: newTurnToken(),
      fence: lease.fence,
      process: this.news.process,
      key,
      ifVersion,
      messages: [first, ...rest],
      model: model.name,
      request: JSON.stringify(parameters),
      replaces: replaces?.turnId,
    };
  }
}

/** @throws ApiError idempotency_mismatch */
export function sameTurn({ turn, isSame }: { readonly turn: Turn; readonly isSame: boolean }): Turn {
  if (isSame) return turn;
  throw new ApiError('idempotency_mismatch', 'this Idempotency-Key was used for another request', {
    param: 'Idempotency-Key',
  });
}

function refusal(kind: 'missing' | 'changed' | 'fenced', { ifVersion }: TurnAsk): ApiError {
  if (kind === 'missing') return conversationMissing();
  if (kind === 'fenced') return turnInProgress(undefined, 0);
  if (ifVersion !== undefined) return conversationChanged();
  return new ApiError('conflict', 'only the last turn of a conversation can be answered again');
}
