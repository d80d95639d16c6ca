import { Inject, Injectable } from '@nestjs/common';
import type { JsonObject } from '../../ai/index.js';
import { ApiError } from '../../http/index.js';
import { CONVERSATION_SETTINGS, CONVERSATION_STORE, type ConversationSettings } from '../conversation.options.js';
import {
  type CardList,
  type Conversation,
  type ConversationStore,
  type NewMessage,
  type Place,
  readLog,
  type WindowHead,
} from '../store/index.js';
import type { MessageCard } from '../window/message.card.js';
import { isOverflow, planWindow, type WindowOverflow, type WindowPlan } from '../window/window.planner.js';
import { chatMessage } from './chat.messages.js';
import { conversationMissing } from './turn.errors.js';
import { isExact, type PromptRoom, promptRoom, type TurnModel } from './turn.model.js';
import { WindowCounter, type WindowCounts } from './window.counts.js';

export interface PlanRequest {
  readonly place: Place;
  readonly model: TurnModel;
  /** What goes to the provider beside the messages. */
  readonly parameters: JsonObject;
  /** Not in the log yet; none: whatever will be said next, of no length. */
  readonly messages: readonly NewMessage[];
  /** Answered again: messages from this one are no part of the window. */
  readonly supersedesFrom?: number;
}

/** What a reply tells of the window that was sent. */
export interface WindowSummary {
  /** Of the messages that are sent; null: none is. */
  readonly firstSeq: number | null;
  readonly lastSeq: number | null;
  readonly messages: number;
  /** Of the whole prompt. */
  readonly tokens: number;
  readonly budget: number;
  /** Of the log, those that are not sent. */
  readonly droppedMessages: number;
  readonly counting: 'exact' | 'estimate';
}

export interface TurnPlan {
  readonly conversation: Conversation;
  readonly list: CardList;
  readonly counts: WindowCounts;
  readonly window: WindowPlan;
  readonly room: PromptRoom;
  readonly summary: WindowSummary;
  /** To be kept for the next plan. */
  readonly head: WindowHead | undefined;
}

/** Plans what of a conversation is sent, from the counts that are stored with its messages. */
@Injectable()
export class TurnPlanner {
  constructor(
    @Inject(CONVERSATION_STORE) private readonly store: ConversationStore,
    private readonly counter: WindowCounter,
    @Inject(CONVERSATION_SETTINGS) private readonly settings: Pick<ConversationSettings, 'mostInput'>,
  ) {}

  /**
   * Changes nothing but counts.
   *
   * @throws ApiError not_found, context_window_exceeded, unprocessable where the system prompt and the tools alone are too long
   */
  async plan(request: PlanRequest): Promise<TurnPlan> {
    const { place, model, parameters, messages } = request;
    const { settings } = model;
    const list = await this.#cards(request);
    const { conversation } = list;
    const room = promptRoom(settings, parameters, this.settings.mostInput);
    const counts = await this.counter.count(
      { place, model: settings, parameters, messages, list },
      (tokens) => tokens <= room.budget,
    );
    const { cards, fixedTokens } = counts;
    const headSeq = headOf(conversation, request);
    const said = messages.length === 0 ? [nextMessage(conversation)] : [];
    const window = planWindow({
      cards: [...cards, ...said],
      fixedTokens,
      budget: room.budget,
      ...(headSeq !== undefined && { headSeq }),
    });
    if (isOverflow(window)) throw overflow(window, request, { room, counting: countingOf(request, counts) });
    const sent = { ...window, messages: window.messages.filter(({ card }) => !said.includes(card)) };
    const next = window.headSeq ?? headSeq;
    return {
      conversation,
      list,
      counts,
      window: sent,
      room,
      summary: summaryOf({ request, conversation, counts, window: sent, room }),
      head: next === undefined ? undefined : { seq: next, model: settings.name },
    };
  }

  /** The messages of a plan as they are sent, the system prompt first. @throws ApiError not_found */
  async messages(place: Place, { window, conversation, counts }: TurnPlan): Promise<readonly JsonObject[]> {
    const sent = new Map(window.messages.map((message) => [message.card.seq, message]));
    const told: JsonObject[] = [];
    if (conversation.system !== undefined) told.push({ role: 'system', content: conversation.system });
    const first = window.messages[0]?.card.seq ?? Infinity;
    for await (const page of this.#log(place, first, conversation.seq)) {
      for (const message of page) {
        const planned = sent.get(message.seq);
        if (planned === undefined || message.seq > conversation.seq) continue;
        told.push(chatMessage(message, planned.isWithoutCalls));
      }
    }
    return [...told, ...counts.messages.map((message) => chatMessage(message))];
  }

  async #cards({ place, model, supersedesFrom = Infinity }: PlanRequest): Promise<CardList> {
    const { name, tokenizer } = model.settings;
    const list = await this.store.cards(place, { encoding: tokenizer.encoding, model: name });
    if (list === undefined) throw conversationMissing();
    return { ...list, cards: list.cards.filter(({ seq }) => seq < supersedesFrom) };
  }

  async *#log(place: Place, first: number, last: number) {
    if (first > last) return;
    for await (const page of readLog(this.store, place, first - 1)) {
      yield page;
      if ((page.at(-1)?.seq ?? last) >= last) return;
    }
  }
}

/** Where the last window began: for the same model, and in what is still sent. */
function headOf({ head }: Conversation, { model, supersedesFrom = Infinity }: PlanRequest): number | undefined {
  return head?.model === model.settings.name && head.seq <= supersedesFrom ? head.seq : undefined;
}

function nextMessage({ seq }: Conversation): MessageCard {
  return { seq: seq + 1, role: 'user', status: 'complete', tokens: 0, callTokens: 0, hasContent: true, calls: [] };
}

function countingOf({ model }: PlanRequest, { isBound }: WindowCounts): WindowSummary['counting'] {
  return isExact(model.settings) && !isBound ? 'exact' : 'estimate';
}

function summaryOf(plan: {
  readonly request: PlanRequest;
  readonly conversation: Conversation;
  readonly counts: WindowCounts;
  readonly window: WindowPlan;
  readonly room: PromptRoom;
}): WindowSummary {
  const { request, conversation, counts, window, room } = plan;
  const all = conversation.seq - conversation.firstSeq + 1 + request.messages.length;
  return {
    firstSeq: window.messages[0]?.card.seq ?? null,
    lastSeq: window.messages.at(-1)?.card.seq ?? null,
    messages: window.messages.length,
    tokens: window.tokens,
    budget: room.budget,
    droppedMessages: Math.max(0, all - window.messages.length),
    counting: countingOf(request, counts),
  };
}

function overflow(
  { overBy, fixedTokens, messageTokens, budget }: WindowOverflow,
  { model }: PlanRequest,
  { room, counting }: { readonly room: PromptRoom; readonly counting: WindowSummary['counting'] },
): ApiError {
  const { name, contextWindow } = model.settings;
  const { reservedOutput } = room;
  const details = { model: name, contextWindow, reservedOutput, budget, fixedTokens, messageTokens, overBy, counting };
  if (fixedTokens > budget) {
    const message = `the system prompt and the tools take ${String(fixedTokens)} tokens; ${name} has room for ${String(Math.max(0, budget))}`;
    return new ApiError('unprocessable', message, { param: 'system', details });
  }
  const message = `the message is ${String(overBy)} tokens too long for ${name}: it takes ${String(messageTokens)} of ${String(budget)}`;
  return new ApiError('context_window_exceeded', message, { param: 'content', details });
}
