import type { Durability, Script, Store } from '../../store/index.js';
import type { Encoding } from '../../tokens/index.js';
import { encodingMark, formatCount } from './card.format.js';
import type {
  Conversation,
  ConversationChanges,
  ConversationDraft,
  ConversationList,
  ExpectedVersion,
  ListPage,
  Place,
} from './conversation.js';
import { changeWords, draftWords, endWords, startWords, versionWords } from './command.words.js';
import {
  channelOf,
  channelPrefix,
  type ConversationKeys,
  conversationKeys,
  eventsKey,
  usedKey,
} from './conversation.keys.js';
import { CONVERSATION_LIMITS } from './conversation.limits.js';
import * as replies from './conversation.replies.js';
import {
  type ConversationScripts,
  loadConversationScripts,
  loadOwnerScripts,
  type OwnerScripts,
} from './conversation.scripts.js';
import type { ChangeRefusal, ConversationStore, Created } from './conversation.store.js';
import type { CardList, CardRequest, MessageList, MessagePage, MessageTokens } from './message.js';
import { OwnerList } from './owner.list.js';
import type {
  EndAnswer,
  EventPage,
  EventRequest,
  KeyedTurn,
  StartAnswer,
  TellAnswer,
  Turn,
  TurnEnd,
  TurnEvent,
  TurnKey,
  TurnNews,
  TurnStart,
} from './turn.js';
import { parseTurnId } from './turn.id.js';

export interface ConversationScriptSet {
  readonly conversation: ConversationScripts;
  readonly owner: OwnerScripts;
}

type Words = readonly (string | number)[];

/** Conversations shared by all processes on one Redis. Each question is one script, so it happens at once or not at all. */
export class RedisConversationStore implements ConversationStore {
  private readonly channels: string;
  private readonly scripts: ConversationScripts;
  private readonly lists: OwnerList;

  /** @param durability - of what is acknowledged: all but events, cancellations and counts */
  constructor(
    private readonly store: Store,
    private readonly durability: Durability = { replicas: 0 },
    scripts: ConversationScriptSet = { conversation: loadConversationScripts(), owner: loadOwnerScripts() },
  ) {
    this.channels = channelPrefix(store.keyPrefix);
    this.scripts = scripts.conversation;
    this.lists = new OwnerList(store, scripts.owner);
  }

  async create(place: Place, draft: ConversationDraft): Promise<Created> {
    const created = replies.readCreated(place.id, await this.write(this.scripts.create, place, draftWords(draft)));
    await this.lists.touch(place.owner, created.conversation);
    return created;
  }

  async find(place: Place): Promise<Conversation | undefined> {
    const found = replies.readFound('find', place.id, await this.run(this.scripts.find, place, []));
    return typeof found === 'string' ? undefined : found;
  }

  async change(
    place: Place,
    changes: ConversationChanges,
    ifVersion?: ExpectedVersion,
  ): Promise<Conversation | ChangeRefusal> {
    const words = [...versionWords(ifVersion), ...changeWords(changes)];
    const changed = replies.readChanged(place.id, await this.write(this.scripts.change, place, words));
    if (typeof changed !== 'string') await this.lists.touch(place.owner, changed);
    return changed;
  }

  async remove(place: Place, ifVersion?: ExpectedVersion): Promise<'removed' | ChangeRefusal> {
    const words = [...versionWords(ifVersion), this.channels];
    const removed = replies.readRemoved(await this.write(this.scripts.remove, place, words));
    if (typeof removed === 'string') return removed;
    await this.lists.drop(place.owner, place.id);
    const { token, firstSeq } = removed;
    if (token !== '') await this.runTurn(this.scripts.forget, place, token, [token, firstSeq]);
    return 'removed';
  }

  async clear(
    place: Place,
    fence: number,
    ifVersion?: ExpectedVersion,
  ): Promise<Conversation | ChangeRefusal | 'fenced' | 'busy'> {
    const words = [...versionWords(ifVersion), this.channels, fence];
    const cleared = replies.readFound('clear', place.id, await this.write(this.scripts.clear, place, words));
    if (typeof cleared !== 'string') await this.lists.touch(place.owner, cleared);
    return cleared;
  }

  list(owner: string, page: ListPage): Promise<ConversationList> {
    return this.lists.read(owner, page, (place) => this.find(place));
  }

  async startTurn(place: Place, start: TurnStart): Promise<StartAnswer> {
    const replaces = start.replaces === undefined ? undefined : parseTurnId(start.replaces);
    if (start.replaces !== undefined && replaces === undefined) return { kind: 'changed' };
    const keys = this.keysOf(place);
    const reply = await this.store.run(
      this.scripts.start,
      [...keys, usedKey(keys, start.key?.hash ?? ''), eventsKey(keys, start.token)],
      [place.owner, ...versionWords(start.ifVersion), ...startWords(start, replaces)],
      this.durability,
    );
    const answer = replies.readStarted(place.id, reply);
    if (answer.kind === 'started') await this.lists.touch(place.owner, answer.conversation);
    return answer;
  }

  async findKeyed(place: Place, { hash, bodyHash }: Omit<TurnKey, 'keepMs'>): Promise<KeyedTurn | undefined> {
    const keys = this.keysOf(place);
    const reply = await this.store.run(this.scripts.keyed, [...keys, usedKey(keys, hash)], [place.owner, bodyHash]);
    return replies.readKeyed(reply);
  }

  async addEvents(place: Place, turnId: string, fence: number, events: readonly TurnEvent[]): Promise<TellAnswer> {
    const turn = parseTurnId(turnId);
    if (turn === undefined) return 'over';
    const words = [
      this.channels,
      turn.token,
      turn.firstSeq,
      fence,
      ...events.flatMap(({ name, data }) => [name, data]),
    ];
    const reply = await this.runTurn(this.scripts.tell, place, turn.token, words);
    return replies.readAdded(reply);
  }

  async endTurn(place: Place, turnId: string, end: TurnEnd): Promise<EndAnswer> {
    const turn = parseTurnId(turnId);
    if (turn === undefined) return { kind: 'missing' };
    const keys = this.keysOf(place);
    const reply = await this.store.run(
      this.scripts.end,
      [...keys, eventsKey(keys, turn.token)],
      [place.owner, this.channels, turn.token, turn.firstSeq, ...endWords(end)],
      this.durability,
    );
    const answer = replies.readEnded(place.id, reply);
    if (answer.kind === 'ended') await this.lists.touch(place.owner, answer.conversation);
    return answer;
  }

  async findTurn(place: Place, turnId: string): Promise<Turn | undefined> {
    const turn = parseTurnId(turnId);
    if (turn === undefined) return undefined;
    return replies.readFoundTurn(await this.run(this.scripts.turn, place, [turn.token, turn.firstSeq]));
  }

  async lastTurn(place: Place): Promise<Turn | undefined> {
    return replies.readFoundTurn(await this.run(this.scripts.turn, place, ['', 0]));
  }

  async cancelTurn(place: Place, turnId: string): Promise<'asked' | 'over' | 'missing'> {
    const turn = parseTurnId(turnId);
    if (turn === undefined) return 'missing';
    const words = [this.channels, turn.token, turn.firstSeq];
    return replies.readCancelled(await this.run(this.scripts.cancel, place, words));
  }

  async events(place: Place, turnId: string, request: EventRequest): Promise<EventPage | undefined> {
    const turn = parseTurnId(turnId);
    if (turn === undefined) return undefined;
    const { afterId = 0, limit, process = '' } = request;
    const words = [turn.token, turn.firstSeq, afterId, limit, process];
    return replies.readEvents(await this.runTurn(this.scripts.events, place, turn.token, words));
  }

  async messages(place: Place, { afterSeq, limit }: MessagePage): Promise<MessageList | undefined> {
    return replies.readPage(await this.run(this.scripts.page, place, [afterSeq, limit]));
  }

  async cards(place: Place, { encoding, model }: CardRequest): Promise<CardList | undefined> {
    return replies.readCards(place.id, encoding, await this.run(this.scripts.cards, place, [model]));
  }

  async saveTokens(place: Place, encoding: Encoding, counts: readonly MessageTokens[]): Promise<void> {
    for (let at = 0; at < counts.length; at += CONVERSATION_LIMITS.countsAtOnce) {
      const some = counts.slice(at, at + CONVERSATION_LIMITS.countsAtOnce);
      const words = some.flatMap((count) => [count.seq, formatCount(count)]);
      await this.run(this.scripts.count, place, [encodingMark(encoding), ...words]);
    }
  }

  subscribe(process: string, receive: (news: TurnNews) => void, resumed?: () => void): Promise<void> {
    const hear = (message: string): void => {
      const news = replies.readNews(message);
      if (news !== undefined) receive(news);
    };
    return this.store.subscribe(channelOf(this.store.keyPrefix, process), hear, resumed);
  }

  unsubscribe(process: string): Promise<void> {
    return this.store.unsubscribe(channelOf(this.store.keyPrefix, process));
  }

  private write(script: Script, place: Place, words: Words): Promise<unknown> {
    return this.store.run(script, this.keysOf(place), [place.owner, ...words], this.durability);
  }

  private run(script: Script, place: Place, words: Words): Promise<unknown> {
    return this.store.run(script, this.keysOf(place), [place.owner, ...words]);
  }

  private runTurn(script: Script, place: Place, token: string, words: Words): Promise<unknown> {
    const keys = this.keysOf(place);
    return this.store.run(script, [...keys, eventsKey(keys, token)], [place.owner, ...words]);
  }

  private keysOf(place: Place): ConversationKeys {
    return conversationKeys(this.store.keyPrefix, place);
  }
}
