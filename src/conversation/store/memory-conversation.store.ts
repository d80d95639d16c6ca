import type { Encoding } from '../../tokens/index.js';
import { withCount } from './card.format.js';
import type {
  Conversation,
  ConversationChanges,
  ConversationDraft,
  ConversationList,
  ExpectedVersion,
  ListPage,
  Place,
} from './conversation.js';
import { CONVERSATION_LIMITS as LIMITS } from './conversation.limits.js';
import { cardsOf } from './conversation.replies.js';
import type { ChangeRefusal, ConversationStore, Created } from './conversation.store.js';
import { ConversationTable } from './memory/conversation.table.js';
import { KeptConversation } from './memory/kept.conversation.js';
import type { KeptTurn } from './memory/kept.turn.js';
import { listOf } from './memory/owner.view.js';
import { decideStart, eventsOf, pageOf } from './memory/turn.view.js';
import type { CardList, CardRequest, MessageList, MessagePage, MessageTokens } from './message.js';
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
import { parseTurnId, turnIdOf } from './turn.id.js';

/**
 * Conversations of this process alone: the embedded store, and the executable model of the Redis one. Every question is answered by
 * the time its call returns; news arrive after the present task.
 */
export class MemoryConversationStore implements ConversationStore {
  private readonly table = new ConversationTable();
  private readonly receivers = new Map<string, (news: TurnNews) => void>();

  /** @param clock - µs since 1970, whole; the system's by default, which never steps back while the process lives */
  constructor(private readonly clock: () => number = systemClock) {}

  /** How many conversations are remembered. */
  get size(): number {
    return this.table.size;
  }

  create(place: Place, draft: ConversationDraft): Promise<Created> {
    const found = this.open(place);
    if (found !== undefined) return Promise.resolve({ isNew: false, conversation: found.told() });
    const conversation = new KeptConversation(place.id, draft, this.now());
    this.table.set(place, conversation);
    return Promise.resolve({ isNew: true, conversation: conversation.told() });
  }

  find(place: Place): Promise<Conversation | undefined> {
    return Promise.resolve(this.open(place)?.told());
  }

  change(
    place: Place,
    changes: ConversationChanges,
    ifVersion?: ExpectedVersion,
  ): Promise<Conversation | ChangeRefusal> {
    const conversation = this.open(place);
    if (conversation?.isAt(ifVersion) !== true) return Promise.resolve(refusal(conversation));
    conversation.change(changes, this.now());
    return Promise.resolve(conversation.told());
  }

  remove(place: Place, ifVersion?: ExpectedVersion): Promise<'removed' | ChangeRefusal> {
    const conversation = this.open(place);
    if (conversation?.isAt(ifVersion) !== true) return Promise.resolve(refusal(conversation));
    const { turn } = conversation;
    if (turn !== undefined) {
      this.tell(turn.process, 'cancelled', turn);
      this.tellReaders('ended', turn);
    }
    this.table.delete(place);
    return Promise.resolve('removed');
  }

  clear(
    place: Place,
    fence: number,
    ifVersion?: ExpectedVersion,
  ): Promise<Conversation | ChangeRefusal | 'fenced' | 'busy'> {
    const conversation = this.open(place);
    if (conversation === undefined) return Promise.resolve('missing');
    if (fence < conversation.fence) return Promise.resolve('fenced');
    if (!conversation.isAt(ifVersion)) return Promise.resolve('changed');
    const { turn } = conversation;
    if (turn !== undefined && turn.fence >= fence) return Promise.resolve('busy');
    if (turn !== undefined) this.tellReaders('ended', turn);
    conversation.clear(fence, this.now());
    return Promise.resolve(conversation.told());
  }

  list(owner: string, page: ListPage): Promise<ConversationList> {
    return Promise.resolve(listOf(this.table.owned(owner, this.now()), page));
  }

  startTurn(place: Place, start: TurnStart): Promise<StartAnswer> {
    const conversation = this.open(place);
    if (conversation === undefined) return Promise.resolve({ kind: 'missing' });
    return Promise.resolve(decideStart(conversation, start, this.now()));
  }

  findKeyed(place: Place, { hash, bodyHash }: Omit<TurnKey, 'keepMs'>): Promise<KeyedTurn | undefined> {
    const conversation = this.open(place);
    const used = conversation?.used(hash, this.now());
    const turn = used === undefined ? undefined : conversation?.turnOf(used.turn);
    return Promise.resolve(turn === undefined ? undefined : { turn, isSame: used?.bodyHash === bodyHash });
  }

  addEvents(place: Place, turnId: string, fence: number, events: readonly TurnEvent[]): Promise<TellAnswer> {
    const parts = parseTurnId(turnId);
    if (parts === undefined) return Promise.resolve('over');
    const conversation = this.open(place);
    if (conversation === undefined) return Promise.resolve('missing');
    if (fence < conversation.fence) return Promise.resolve('fenced');
    const turn = conversation.running(parts);
    if (turn === undefined) return Promise.resolve('over');
    conversation.fence = fence;
    conversation.addEvents(turn.token, events);
    this.tellReaders('events', turn);
    return Promise.resolve(turn.isCancelled ? 'cancelled' : 'added');
  }

  endTurn(place: Place, turnId: string, end: TurnEnd): Promise<EndAnswer> {
    const conversation = this.open(place);
    const parts = parseTurnId(turnId);
    if (conversation === undefined || parts === undefined) return Promise.resolve({ kind: 'missing' });
    if (end.fence < conversation.fence) return Promise.resolve({ kind: 'fenced' });
    const turn = conversation.running(parts);
    if (turn !== undefined) {
      conversation.end(turn, end, this.now());
      this.tellReaders('ended', turn);
    }
    const ended = conversation.turnOf(parts);
    if (ended === undefined) return Promise.resolve({ kind: 'missing' });
    conversation.renew(this.now(), conversation.turn === undefined ? 0 : LIMITS.runMs);
    return Promise.resolve({ kind: 'ended', turn: ended, conversation: conversation.told() });
  }

  findTurn(place: Place, turnId: string): Promise<Turn | undefined> {
    const parts = parseTurnId(turnId);
    return Promise.resolve(parts === undefined ? undefined : this.open(place)?.turnOf(parts));
  }

  lastTurn(place: Place): Promise<Turn | undefined> {
    return Promise.resolve(this.open(place)?.lastTurn());
  }

  cancelTurn(place: Place, turnId: string): Promise<'asked' | 'over' | 'missing'> {
    const parts = parseTurnId(turnId);
    const conversation = this.open(place);
    if (parts === undefined || conversation?.turnOf(parts) === undefined) return Promise.resolve('missing');
    const turn = conversation.running(parts);
    if (turn === undefined) return Promise.resolve('over');
    turn.isCancelled = true;
    this.tell(turn.process, 'cancelled', turn);
    return Promise.resolve('asked');
  }

  events(place: Place, turnId: string, request: EventRequest): Promise<EventPage | undefined> {
    const parts = parseTurnId(turnId);
    const conversation = this.open(place);
    if (parts === undefined || conversation === undefined) return Promise.resolve(undefined);
    return Promise.resolve(eventsOf(conversation, parts, request, this.now()));
  }

  messages(place: Place, page: MessagePage): Promise<MessageList | undefined> {
    const conversation = this.open(place);
    return Promise.resolve(conversation === undefined ? undefined : pageOf(conversation, page));
  }

  cards(place: Place, { encoding, model }: CardRequest): Promise<CardList | undefined> {
    const conversation = this.open(place);
    if (conversation === undefined) return Promise.resolve(undefined);
    const { base, head, log } = conversation;
    const first = head?.model === model ? Math.max(base + 1, head.seq) : base + 1;
    const texts = log.slice(first - base - 1).map(({ card }) => card);
    return Promise.resolve({ conversation: conversation.told(), ...cardsOf(texts, first, encoding) });
  }

  saveTokens(place: Place, encoding: Encoding, counts: readonly MessageTokens[]): Promise<void> {
    const conversation = this.open(place);
    for (const { seq, ...count } of counts) {
      const entry = conversation?.log[seq - conversation.base - 1];
      if (entry !== undefined) entry.card = withCount(entry.card, encoding, count);
    }
    return Promise.resolve();
  }

  /** Nothing comes between: it is never lost, so it never comes back. */
  subscribe(process: string, receive: (news: TurnNews) => void): Promise<void> {
    this.receivers.set(process, receive);
    return Promise.resolve();
  }

  unsubscribe(process: string): Promise<void> {
    this.receivers.delete(process);
    return Promise.resolve();
  }

  private open(place: Place): KeptConversation | undefined {
    return this.table.find(place, this.now());
  }

  private now(): number {
    return Math.floor(this.clock() / 1000);
  }

  private tellReaders(kind: TurnNews['kind'], turn: KeptTurn): void {
    for (const process of turn.readers) this.tell(process, kind, turn);
  }

  private tell(process: string, kind: TurnNews['kind'], turn: KeptTurn): void {
    // Who subscribes later hears nothing of it, as with Redis.
    const receive = this.receivers.get(process);
    if (receive !== undefined)
      queueMicrotask(() => {
        receive({ kind, turnId: turnIdOf(turn) });
      });
  }
}

function refusal(conversation: KeptConversation | undefined): ChangeRefusal {
  return conversation === undefined ? 'missing' : 'changed';
}

/** Never steps back while the process lives. */
function systemClock(): number {
  return Math.floor((performance.timeOrigin + performance.now()) * 1000);
}
