import type { Encoding } from '../../tokens/index.js';
import type {
  Conversation,
  ConversationChanges,
  ConversationDraft,
  ConversationList,
  ExpectedVersion,
  ListPage,
  Place,
} from './conversation.js';
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

/**
 * The questions that conversations ask of the store, each answered by one atomic script over the keys of one conversation. There are
 * two implementations with the same answers: Lua on Redis, and one in this process.
 *
 * A conversation is found by its place, which is made of its owner and its id together; every script compares the owner once more, so
 * that a foreign conversation is like none. The log is gapless and only grows; what runs stands in the turn's own record until it
 * ends. Whoever writes a turn gives the fence of the lock that it holds: a fence below the largest one that was seen changes nothing
 * (`fenced`). The scripts never read the lock's own keys.
 *
 * Times are Unix milliseconds of the store's clock. Every key expires with the conversation, which each start and end of a turn
 * renews, as every change does.
 *
 * @throws StoreError - of every method: the store did not answer, or refused
 */
export interface ConversationStore {
  /** Nothing is changed where it exists already. */
  create(place: Place, draft: ConversationDraft): Promise<Created>;
  find(place: Place): Promise<Conversation | undefined>;
  /** Changes the given members only; also while a turn runs, which goes on with what it began with. */
  change(
    place: Place,
    changes: ConversationChanges,
    ifVersion?: ExpectedVersion,
  ): Promise<Conversation | ChangeRefusal>;
  /** Also while a turn runs: whoever runs it is told to stop, and finds it `missing` at its end. */
  remove(place: Place, ifVersion?: ExpectedVersion): Promise<'removed' | ChangeRefusal>;
  /**
   * Takes away what the log holds; `seq` goes on. A turn that a holder before this one left running goes as well; `busy`: one of
   * this holder runs.
   */
  clear(
    place: Place,
    fence: number,
    ifVersion?: ExpectedVersion,
  ): Promise<Conversation | ChangeRefusal | 'fenced' | 'busy'>;
  /**
   * The owner's conversations, the last used one first. The list is an index beside them: an entry whose conversation is gone is
   * taken out, and one that is out of date set right, when it is read.
   */
  list(owner: string, page: ListPage): Promise<ConversationList>;

  /** Puts the messages into a record of the turn's own, which is their acknowledgement; or finds the turn of the same key. */
  startTurn(place: Place, start: TurnStart): Promise<StartAnswer>;
  /** The turn of an Idempotency-Key, to be asked before the lock is waited for: a turn that runs is one to be read along. */
  findKeyed(place: Place, key: Omit<TurnKey, 'keepMs'>): Promise<KeyedTurn | undefined>;
  /** More of the reply, for whoever reads along. */
  addEvents(place: Place, turnId: string, fence: number, events: readonly TurnEvent[]): Promise<TellAnswer>;
  /**
   * Appends the turn's messages to the log, all or none, and ends it. Those of its start are `complete`, or `failed` with it.
   * Repeated after a lost answer, it finds itself.
   */
  endTurn(place: Place, turnId: string, end: TurnEnd): Promise<EndAnswer>;
  findTurn(place: Place, turnId: string): Promise<Turn | undefined>;
  /** The turn of the last message in the log. Undefined: there is none. */
  lastTurn(place: Place): Promise<Turn | undefined>;
  /** Asks whoever runs it to stop; its process is told by message, and by the answer to its next events. */
  cancelTurn(place: Place, turnId: string): Promise<'asked' | 'over' | 'missing'>;
  /** Events of a turn, which are kept for ten minutes after its end. Undefined: there is no such turn. */
  events(place: Place, turnId: string, request: EventRequest): Promise<EventPage | undefined>;

  /** Part of the log. Undefined: there is no such conversation. readLog() goes through all of it. */
  messages(place: Place, page: MessagePage): Promise<MessageList | undefined>;
  /** What a window is planned from: messages without their texts, and the conversation as it is then. */
  cards(place: Place, request: CardRequest): Promise<CardList | undefined>;
  /** Adds counts of an encoding where there are none. */
  saveTokens(place: Place, encoding: Encoding, counts: readonly MessageTokens[]): Promise<void>;

  /**
   * Hears of new events, ends and cancellations of turns that this process runs or reads: once, twice or, where a connection was
   * lost, never. Resolves once subscribed.
   *
   * @param resumed - news may have been lost
   */
  subscribe(process: string, receive: (news: TurnNews) => void, resumed?: () => void): Promise<void>;
  /** Never fails. */
  unsubscribe(process: string): Promise<void>;
}

export interface Created {
  readonly isNew: boolean;
  readonly conversation: Conversation;
}

/** `changed`: it is not at the expected version any more. */
export type ChangeRefusal = 'missing' | 'changed';
