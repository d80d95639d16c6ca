import type { MessageCard, MessageStatus } from '../window/message.card.js';

/**
 * The questions that conversations ask of the store, each answered by one atomic script over the keys of one conversation. There are
 * two implementations with the same answers: Lua on Redis, and one in this process.
 *
 * A conversation is found by its place, which is made of its owner and its id together; every script compares the owner once more, so
 * that a foreign conversation is like none. The log is gapless and only grows; what runs stands in the turn's own record until it
 * ends. Whoever writes a turn gives the fence of the lock that it holds: a fence below the largest one that was seen changes nothing
 * (`fenced`). The scripts never read the lock's own keys.
 *
 * Times are Unix milliseconds of the store's clock. Every key expires with the conversation, which each write of a turn renews.
 *
 * @throws StoreError - of every method: the store did not answer, or refused
 */
export interface ConversationStore {
  /** Nothing is changed where it exists already. */
  create(
    place: Place,
    draft: ConversationDraft,
  ): Promise<{ readonly isNew: boolean; readonly conversation: Conversation }>;
  find(place: Place): Promise<Conversation | undefined>;
  /** Changes the given members only. */
  change(
    place: Place,
    changes: ConversationChanges,
    ifVersion?: ExpectedVersion,
  ): Promise<Conversation | ChangeRefusal>;
  remove(place: Place, ifVersion?: ExpectedVersion): Promise<'removed' | ChangeRefusal>;
  /** Ends the log: what came before is gone, `seq` goes on. */
  clear(place: Place, fence: number, ifVersion?: ExpectedVersion): Promise<Conversation | ChangeRefusal | 'fenced'>;
  /** The owner's conversations, the last used one first. An index entry without its conversation is taken out on the way. */
  list(
    owner: string,
    page: ListPage,
  ): Promise<{ readonly conversations: readonly Conversation[]; readonly hasMore: boolean }>;

  /** Puts the user's message into a record of its own, which is its acknowledgement; or finds the turn of the same key. */
  startTurn(place: Place, start: TurnStart): Promise<StartAnswer>;
  /** More of the reply, for whoever reads along. */
  addEvents(
    place: Place,
    turnId: string,
    fence: number,
    events: readonly TurnEvent[],
  ): Promise<'added' | 'over' | 'fenced'>;
  /** Appends the turn's messages to the log, all or none, and ends it. Repeated after a lost answer, it finds itself. */
  endTurn(place: Place, end: TurnEnd): Promise<EndAnswer>;
  findTurn(place: Place, turnId: string): Promise<Turn | undefined>;
  /** Asks whoever runs it to stop; told to all processes by message. */
  cancelTurn(place: Place, turnId: string): Promise<'asked' | 'over' | 'missing'>;
  /** Events after `afterId` (undefined: from the first), at most `limit`. */
  events(place: Place, turnId: string, afterId: string | undefined, limit: number): Promise<EventPage | undefined>;

  /** Part of the log, by `seq`, rising. Undefined: there is no such conversation. */
  messages(place: Place, page: MessagePage): Promise<MessageList | undefined>;
  /** What a window is planned from: the messages since `fromSeq`, without their texts. Also tells the conversation as it is then. */
  cards(place: Place, fromSeq: number, encoding: string): Promise<CardList | undefined>;
  /** Counts that were missing for an encoding. */
  saveTokens(place: Place, encoding: string, counts: readonly MessageTokens[]): Promise<void>;

  /** Hears of new events, ends and cancellations of turns. Resolves once subscribed. */
  subscribe(process: string, receive: (news: TurnNews) => void, resumed?: () => void): Promise<void>;
  /** Never fails. */
  unsubscribe(process: string): Promise<void>;
}

/** Where a conversation is kept. */
export interface Place {
  /** The caller's id, with issuer and subject where a token named them; never a key. */
  readonly owner: string;
  /** As the owner calls it. */
  readonly id: string;
}

export interface ConversationDraft {
  readonly title: string | undefined;
  readonly model: string | undefined;
  /** The system prompt. */
  readonly system: string | undefined;
  readonly metadata: Readonly<Record<string, string>>;
  /** How long it is kept after its last turn, ms; 0: for ever. */
  readonly keepMs: number;
}

export type ConversationChanges = Partial<Omit<ConversationDraft, 'keepMs'>>;

export interface Conversation extends ConversationDraft {
  readonly id: string;
  readonly createdAt: number;
  readonly updatedAt: number;
  /** Of the last message in the log; 0: there was none yet. */
  readonly seq: number;
  /** Rises with every change of anything but the log. */
  readonly version: number;
  /** The turn that runs, as far as the store knows. */
  readonly activeTurn: string | undefined;
  /** Where the window of the last turn began, and for which model. */
  readonly head: { readonly seq: number; readonly model: string } | undefined;
}

/** An ETag: the log's last `seq` and the version. */
export interface ExpectedVersion {
  readonly seq: number;
  readonly version: number;
}

/** `busy`: a turn runs. */
export type ChangeRefusal = 'missing' | 'changed' | 'busy';

export interface ListPage {
  /** Id of the last one that is known; undefined: from the beginning. */
  readonly after: string | undefined;
  readonly limit: number;
}

export interface TurnStart {
  readonly turnId: string;
  readonly fence: number;
  /** Undefined: the caller gave none. */
  readonly key: { readonly hash: string; readonly bodyHash: string; readonly keepMs: number } | undefined;
  readonly ifVersion: ExpectedVersion | undefined;
  readonly messages: readonly NewMessage[];
  readonly model: string;
  /** What it was asked with, to be shown and asked again: JSON. */
  readonly request: string;
  /** Of an earlier turn that this one takes the place of: its messages are superseded. */
  readonly replaces: string | undefined;
}

export type StartAnswer =
  | { readonly kind: 'started'; readonly turn: Turn; readonly conversation: Conversation }
  /** The key was used for it; `isSame`: with the same body. */
  | { readonly kind: 'known'; readonly turn: Turn; readonly isSame: boolean }
  /** Another one was left running by a holder of the lock that is no more: to be ended first. */
  | { readonly kind: 'left'; readonly turn: Turn }
  | { readonly kind: 'missing' | 'changed' | 'fenced' };

/** A message before it has its place in the log. */
export interface NewMessage {
  readonly id: string;
  readonly role: 'user' | 'assistant' | 'tool';
  /** Text, or JSON of OpenAI's content parts. */
  readonly content: string;
  readonly isJson: boolean;
  /** JSON of OpenAI's `tool_calls`. */
  readonly toolCalls: string | undefined;
  /** Of a tool's message. */
  readonly toolCallId: string | undefined;
  readonly model: string | undefined;
  readonly usage: string | undefined;
  readonly finishReason: string | undefined;
  readonly tokens: readonly MessageTokens[];
}

/** What a message takes by one encoding; models differ in their ratios only. */
export interface MessageTokens {
  readonly seq: number;
  readonly encoding: string;
  readonly tokens: number;
  readonly callTokens: number;
}

export interface Message extends NewMessage {
  /** Undefined: pending, it stands in the turn's record only. */
  readonly seq: number | undefined;
  readonly status: MessageStatus | 'pending';
  readonly turnId: string;
  readonly createdAt: number;
}

export type TurnStatus = 'running' | MessageStatus;

export interface Turn {
  readonly id: string;
  readonly status: TurnStatus;
  readonly model: string;
  readonly request: string;
  readonly startedAt: number;
  readonly endedAt: number | undefined;
  /** Somebody asked for its end. */
  readonly isCancelled: boolean;
  readonly user: Message | undefined;
  readonly assistant: Message | undefined;
  /** JSON of what the provider counted. */
  readonly usage: string | undefined;
  /** JSON of the window that was sent. */
  readonly window: string | undefined;
  /** JSON of the error that ended it. */
  readonly error: string | undefined;
}

export interface TurnEvent {
  /** `turn`, `delta`, `done` or `error`. */
  readonly name: string;
  /** JSON on one line. */
  readonly data: string;
}

export interface EventPage {
  readonly events: readonly (TurnEvent & { readonly id: string })[];
  readonly status: TurnStatus;
  /** False: they were there, and are gone; the turn itself is what is left. */
  readonly isWhole: boolean;
}

export interface TurnEnd {
  readonly turnId: string;
  readonly fence: number;
  readonly status: MessageStatus;
  /** The replies, after the messages of its start. */
  readonly messages: readonly NewMessage[];
  readonly usage: string | undefined;
  readonly window: string | undefined;
  readonly error: string | undefined;
  readonly head: Conversation['head'];
  /** The last events, written with the end in one. */
  readonly events: readonly TurnEvent[];
}

export type EndAnswer =
  | { readonly kind: 'ended'; readonly turn: Turn; readonly conversation: Conversation }
  | { readonly kind: 'missing' | 'fenced' };

export interface MessagePage {
  readonly afterSeq: number;
  readonly limit: number;
}

export interface MessageList {
  readonly messages: readonly Message[];
  readonly hasMore: boolean;
  /** The running turn's, which has no place in the log yet. */
  readonly pending: readonly Message[];
}

export interface CardList {
  readonly conversation: Conversation;
  /** `tokens` is -1 where this encoding has not been counted. */
  readonly cards: readonly MessageCard[];
}

export interface TurnNews {
  readonly kind: 'events' | 'ended' | 'cancelled';
  readonly turnId: string;
}
