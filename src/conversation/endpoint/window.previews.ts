import { Inject, Injectable } from '@nestjs/common';
import type { Catalogue } from '../../ai/index.js';
import type { Caller } from '../../auth/index.js';
import type { ModelSettings } from '../../config/index.js';
import { ApiError } from '../../http/index.js';
import { CONVERSATION_CATALOGUE, CONVERSATION_STORE } from '../conversation.options.js';
import type { ConversationStore, Place } from '../store/index.js';
import { conversationMissing } from '../turn/turn.errors.js';
import { turnModel } from '../turn/turn.model.js';
import { type TurnPlan, TurnPlanner } from '../turn/turn.planner.js';
import { unitsOf } from '../window/window.units.js';
import type { LeavingReason, LeftOutCard, WindowPreview, WindowQuery } from './window.dto.js';

const TOKENS_PER_PRICE = 1_000_000;

/** What would be sent of a conversation now; nobody is called. */
@Injectable()
export class WindowPreviews {
  constructor(
    @Inject(CONVERSATION_STORE) private readonly store: ConversationStore,
    @Inject(CONVERSATION_CATALOGUE) private readonly catalogue: Catalogue,
    private readonly planner: TurnPlanner,
  ) {}

  /** @throws ApiError what a turn would be refused with */
  async of(place: Place, caller: Caller, query: WindowQuery): Promise<WindowPreview> {
    const conversation = await this.store.find(place);
    if (conversation === undefined) throw conversationMissing();
    const model = turnModel(this.catalogue, caller, [query.model, conversation.model]);
    checkOutput(query, model.settings);
    const parameters = query.max_tokens === undefined ? {} : { max_tokens: query.max_tokens };
    const plan = await this.planner.plan({ place, model, parameters, messages: [] });
    const { settings } = model;
    return {
      object: 'conversation.window',
      conversation_id: place.id,
      model: settings.name,
      context_window: settings.contextWindow,
      reserved_output: plan.room.reservedOutput,
      fixed_tokens: plan.counts.fixedTokens,
      window: plan.summary,
      sent: plan.window.messages.map(({ card: { seq, role }, tokens }) => ({ seq, role, tokens })),
      left_out: leftOut(plan),
      cost_usd: this.#costOf(settings, plan.window.tokens),
    };
  }

  #costOf(model: ModelSettings, tokens: number): number | null {
    const prices = this.catalogue.liveDeployments(model)[0]?.prices;
    return prices === undefined ? null : (tokens * prices.input) / TOKENS_PER_PRICE;
  }
}

/** @throws ApiError invalid_request, as a turn would */
function checkOutput({ max_tokens: asked = 0 }: WindowQuery, { name, maxOutputTokens }: ModelSettings): void {
  if (asked <= maxOutputTokens) return;
  const message = `max_tokens must be at most ${String(maxOutputTokens)}, the most that ${name} answers`;
  throw new ApiError('invalid_request', message, { param: 'max_tokens' });
}

function leftOut(plan: TurnPlan): readonly LeftOutCard[] {
  const { conversation, window } = plan;
  const sent = new Set(window.messages.map(({ card }) => card.seq));
  const reasonOf = reasonsIn(plan);
  const cards: { first_seq: number; last_seq: number; reason: LeavingReason }[] = [];
  for (let seq = conversation.firstSeq; seq <= conversation.seq; seq += 1) {
    if (sent.has(seq)) continue;
    const [last, reason] = [cards.at(-1), reasonOf(seq)];
    if (last?.last_seq === seq - 1 && last.reason === reason) last.last_seq = seq;
    else cards.push({ first_seq: seq, last_seq: seq, reason });
  }
  return cards;
}

function reasonsIn({ list }: TurnPlan): (seq: number) => LeavingReason {
  const superseded = new Set(list.superseded);
  const failed = new Set(list.cards.filter(({ status }) => status === 'failed').map(({ seq }) => seq));
  const usable = new Set(unitsOf(list.cards).flatMap(({ messages }) => messages.map(({ card }) => card.seq)));
  const first = list.cards[0]?.seq ?? Infinity;
  return (seq) => {
    if (superseded.has(seq)) return 'superseded';
    if (failed.has(seq)) return 'failed';
    return seq < first || usable.has(seq) ? 'over_budget' : 'unusable';
  };
}
