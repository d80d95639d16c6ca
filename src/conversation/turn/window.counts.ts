import { Inject, Injectable } from '@nestjs/common';
import type { JsonObject } from '../../ai/index.js';
import type { ModelSettings } from '../../config/index.js';
import { CONVERSATION_STORE } from '../conversation.options.js';
import {
  type CardList,
  type Conversation,
  type ConversationStore,
  type CountedTokens,
  type MessageTokens,
  type NewMessage,
  type Place,
  readLog,
} from '../store/index.js';
import type { MessageCard } from '../window/message.card.js';
import { MessageCounter } from './message.counter.js';

/** How long a count is waited for where its upper bound would do as well, ms ... */
const SHORT_PATIENCE_MS = 50;
/** ... and where it would not. */
const LONG_PATIENCE_MS = 2_000;

/** What is to be counted for a window. */
export interface CountRequest {
  readonly place: Place;
  readonly model: ModelSettings;
  readonly parameters: JsonObject;
  /** Not in the log yet. */
  readonly messages: readonly NewMessage[];
  readonly list: CardList;
}

/** All that a window is planned from, in the model's tokens. */
export interface WindowCounts {
  /** Those of the log, then the new ones. */
  readonly cards: readonly MessageCard[];
  readonly fixedTokens: number;
  /** Some of it is an upper bound. */
  readonly isBound: boolean;
  /** The new messages, with what is worth keeping of their counts. */
  readonly messages: readonly NewMessage[];
}

/** Counts what is not counted yet. No byte-pair encoding makes more tokens than bytes, so these will do where they fit. */
@Injectable()
export class WindowCounter {
  constructor(
    @Inject(CONVERSATION_STORE) private readonly store: ConversationStore,
    private readonly counter: MessageCounter,
  ) {}

  /** @param fits - whether as many tokens fit into the window; where bounds do, nothing is counted at length */
  async count(request: CountRequest, fits: (tokens: number) => boolean): Promise<WindowCounts> {
    const quick = await this.#counts(request, { patienceMs: SHORT_PATIENCE_MS, log: 'bounds' });
    if (!quick.isBound || fits(sumOf(quick))) return quick;
    return this.#counts(request, { patienceMs: LONG_PATIENCE_MS, log: 'counts' });
  }

  async #counts(request: CountRequest, how: { patienceMs: number; log: 'bounds' | 'counts' }): Promise<WindowCounts> {
    const { model, list, messages, parameters } = request;
    const { encoding, ratio } = model.tokenizer;
    const logged = how.log === 'counts' ? await this.#counted(request) : await this.#bounded(request);
    const counted = await Promise.all(messages.map((message) => this.counter.count(message, encoding, how)));
    const bytes = await Promise.all(messages.map((message) => this.counter.bytes(message)));
    const fixed = [
      await this.counter.frame(parameters, encoding, how),
      ...(await this.#system(list.conversation, model, how)),
    ];
    const seqOf = (at: number): number => list.conversation.seq + 1 + at;
    const fresh = messages.map((message, at) => newCard(message, seqOf(at), counted[at]?.counted));
    return {
      cards: [...logged.cards, ...fresh].map((card) => scaled(card, ratio)),
      fixedTokens: fixed.reduce((sum, { counted: { tokens } }) => sum + scale(tokens, ratio), 0),
      isBound: logged.isBound || [...counted, ...fixed].some(({ isBound }) => isBound),
      messages: messages.map((message, at) => ({ ...message, tokens: kept(bytes[at], counted[at]) })),
    };
  }

  /** The store's counts; where there are none, bytes. */
  async #bounded({ place, model, list }: CountRequest): Promise<{ cards: readonly MessageCard[]; isBound: boolean }> {
    if (list.cards.every(({ tokens }) => tokens >= 0)) return { cards: list.cards, isBound: false };
    const bounds = await this.store.cards(place, { encoding: 'bytes', model: model.name });
    const bySeq = new Map(bounds?.cards.map((card) => [card.seq, card]));
    const cards = list.cards.map((card) => (card.tokens >= 0 ? card : boundOf(card, bySeq.get(card.seq), model)));
    return { cards, isBound: true };
  }

  /** The store's counts; what is missing is counted now, and kept. */
  async #counted({ place, model, list }: CountRequest): Promise<{ cards: readonly MessageCard[]; isBound: boolean }> {
    const { encoding } = model.tokenizer;
    const missing = new Set(list.cards.filter(({ tokens }) => tokens < 0).map(({ seq }) => seq));
    const counts = new Map<number, MessageTokens>();
    let isBound = false;
    for await (const page of this.#texts(place, missing)) {
      const fresh: MessageTokens[] = [];
      for (const message of page.filter(({ seq }) => missing.has(seq))) {
        const count = await this.counter.count(message, encoding, { patienceMs: LONG_PATIENCE_MS });
        const { tokens, callTokens } = count.counted;
        counts.set(message.seq, { seq: message.seq, tokens, callTokens });
        if (count.isBound) isBound = true;
        else fresh.push({ seq: message.seq, tokens, callTokens });
      }
      if (fresh.length > 0) await this.store.saveTokens(place, encoding, fresh);
    }
    return { cards: list.cards.map((card) => ({ ...card, ...counts.get(card.seq) })), isBound };
  }

  async *#texts(place: Place, seqs: ReadonlySet<number>) {
    if (seqs.size === 0) return;
    const [first, last] = [Math.min(...seqs), Math.max(...seqs)];
    for await (const page of readLog(this.store, place, first - 1)) {
      yield page;
      if ((page.at(-1)?.seq ?? last) >= last) return;
    }
  }

  async #system({ system, systemTokens }: Conversation, { tokenizer }: ModelSettings, options: { patienceMs: number }) {
    if (system === undefined) return [];
    const known = systemTokens.find(({ encoding }) => encoding === tokenizer.encoding);
    if (known !== undefined) return [{ counted: known, isBound: false }];
    return [await this.counter.system(system, tokenizer.encoding, options)];
  }
}

function kept(
  bytes: CountedTokens | undefined,
  count: { readonly counted: CountedTokens; readonly isBound: boolean } | undefined,
): readonly CountedTokens[] {
  const all = [...(bytes === undefined ? [] : [bytes])];
  if (count !== undefined && !count.isBound && count.counted.encoding !== 'bytes') all.push(count.counted);
  return all;
}

function newCard(message: NewMessage, seq: number, counted: CountedTokens | undefined): MessageCard {
  const { role, toolCallId } = message;
  return {
    seq,
    role,
    status: 'complete',
    hasContent: true,
    calls: [],
    tokens: counted?.tokens ?? 0,
    callTokens: 0,
    ...(toolCallId !== undefined && { answers: toolCallId }),
  };
}

/** In units of the model's encoding: with a ratio below 1 even the scaled count must not be below the bytes' share. */
function boundOf(card: MessageCard, bytes: MessageCard | undefined, { tokenizer }: ModelSettings): MessageCard {
  const grow = Math.max(1, 1 / tokenizer.ratio);
  return { ...card, tokens: Math.ceil((bytes?.tokens ?? 0) * grow), callTokens: 0 };
}

function scaled(card: MessageCard, ratio: number): MessageCard {
  return { ...card, tokens: scale(card.tokens, ratio), callTokens: Math.floor(card.callTokens * ratio) };
}

function scale(tokens: number, ratio: number): number {
  // Rounded first: 100 × 1.1 is 110.00000000000001 in binary.
  return Math.ceil(Number((tokens * ratio).toFixed(6)));
}

function sumOf({ cards, fixedTokens }: WindowCounts): number {
  return cards.reduce((sum, { tokens }) => sum + tokens, fixedTokens);
}
