import { Inject, Injectable } from '@nestjs/common';
import type { Catalogue } from '../../ai/index.js';
import type { Caller } from '../../auth/index.js';
import { ApiError } from '../../http/index.js';
import {
  CONVERSATION_CATALOGUE,
  CONVERSATION_SETTINGS,
  CONVERSATION_STORE,
  type ConversationSettings,
} from '../conversation.options.js';
import type {
  Conversation,
  ConversationChanges,
  ConversationStore,
  CountedTokens,
  ExpectedVersion,
  ListPlace,
  Place,
} from '../store/index.js';
import { wellFormed } from '../turn/content.js';
import { MessageCounter } from '../turn/message.counter.js';
import { conversationChanged, conversationMissing } from '../turn/turn.errors.js';
import { turnModel } from '../turn/turn.model.js';
import { conversationCard } from './conversation.cards.js';
import type { ConversationBody, ConversationList, ListConversationsQuery } from './conversation.dto.js';
import { cursorOf, parseCursor } from './list.cursor.js';

/** How long the count of a system prompt is waited for, ms; without it, each turn counts it. */
const COUNT_PATIENCE_MS = 500;

/** Keeps conversations as their owners want them. */
@Injectable()
export class ConversationDesk {
  constructor(
    @Inject(CONVERSATION_STORE) private readonly store: ConversationStore,
    @Inject(CONVERSATION_CATALOGUE) private readonly catalogue: Catalogue,
    private readonly counter: MessageCounter,
    @Inject(CONVERSATION_SETTINGS) private readonly settings: Pick<ConversationSettings, 'keepMs'>,
  ) {}

  /** One that is there already stays as it is. @throws ApiError model_not_found */
  async create(place: Place, body: ConversationBody, caller: Caller): Promise<Conversation> {
    const { title, model, system, metadata, systemTokens = [] } = await this.#changes(body, caller, body.model);
    const draft = { title, model, system, metadata: metadata ?? {}, systemTokens, keepMs: this.settings.keepMs };
    return (await this.store.create(place, draft)).conversation;
  }

  /** @throws ApiError not_found */
  async get(place: Place): Promise<Conversation> {
    const conversation = await this.store.find(place);
    if (conversation === undefined) throw conversationMissing();
    return conversation;
  }

  /** Changes the given members only. @throws ApiError not_found, conversation_changed, model_not_found */
  async change(
    place: Place,
    body: ConversationBody,
    caller: Caller,
    expected: ExpectedVersion | undefined,
  ): Promise<Conversation> {
    const { model } = await this.get(place);
    const changed = await this.store.change(place, await this.#changes(body, caller, body.model ?? model), expected);
    if (changed === 'missing') throw conversationMissing();
    if (changed === 'changed') throw conversationChanged();
    return changed;
  }

  /** @throws ApiError not_found, conversation_changed */
  async remove(place: Place, expected: ExpectedVersion | undefined): Promise<void> {
    const removed = await this.store.remove(place, expected);
    if (removed === 'missing') throw conversationMissing();
    if (removed === 'changed') throw conversationChanged();
  }

  /** @throws ApiError invalid_request where the list can't go on there */
  async list({ id: owner }: Caller, { after, limit }: ListConversationsQuery): Promise<ConversationList> {
    const from = after === undefined ? undefined : await this.#placeIn(owner, after);
    const { conversations, hasMore, last } = await this.store.list(owner, { after: from, limit });
    return {
      object: 'list',
      data: conversations.map(conversationCard),
      has_more: hasMore,
      last_id: last === undefined ? null : cursorOf(last),
    };
  }

  async #placeIn(owner: string, cursor: string): Promise<ListPlace> {
    const { id, updatedAt = (await this.store.find({ owner, id }))?.updatedAt } = parseCursor(cursor);
    if (updatedAt !== undefined) return { id, updatedAt };
    throw new ApiError('invalid_request', 'after names a conversation that is not there', { param: 'after' });
  }

  async #changes(
    { title, model, system, metadata }: ConversationBody,
    caller: Caller,
    countedFor: string | null | undefined,
  ): Promise<ConversationChanges> {
    if (typeof model === 'string') turnModel(this.catalogue, caller, [model]);
    return {
      ...(title !== undefined && { title: textOf(title) }),
      ...(model !== undefined && { model: model ?? undefined }),
      ...(system !== undefined && { system: textOf(system), ...(await this.#counted(system, caller, countedFor)) }),
      ...(metadata !== undefined && { metadata: wellFormedPairs(metadata ?? {}) }),
    };
  }

  async #counted(
    system: string | null,
    caller: Caller,
    model: string | null | undefined,
  ): Promise<{ readonly systemTokens: readonly CountedTokens[] }> {
    const text = textOf(system);
    if (text === undefined) return { systemTokens: [] };
    const known = typeof model === 'string' ? this.catalogue.find(model) : this.catalogue.modelsOf(caller.tier)[0];
    const encoding = known?.tokenizer.encoding ?? 'bytes';
    const { counted, isBound } = await this.counter.system(text, encoding, { patienceMs: COUNT_PATIENCE_MS });
    return { systemTokens: isBound ? [] : [counted] };
  }
}

/** An empty system prompt is none. */
function textOf(text: string | null): string | undefined {
  const read = text === null ? '' : wellFormed(text);
  return read.trim() === '' ? undefined : read;
}

function wellFormedPairs(pairs: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(pairs).map(([key, text]) => [wellFormed(key), wellFormed(text)]));
}
