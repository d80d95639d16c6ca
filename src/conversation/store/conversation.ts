import type { Encoding } from '../../tokens/index.js';

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
  /** Of the system prompt, by the encodings that were asked. */
  readonly systemTokens: readonly CountedTokens[];
  readonly metadata: Readonly<Record<string, string>>;
  /** How long it is kept after its last turn or change, ms; 0: for ever. */
  readonly keepMs: number;
}

/** What is to be changed; a member that is undefined is taken away. A new system prompt comes with its tokens. */
export type ConversationChanges = Partial<Omit<ConversationDraft, 'keepMs'>>;

export interface Conversation extends ConversationDraft {
  readonly id: string;
  readonly createdAt: number;
  /** Of the last turn or change. */
  readonly updatedAt: number;
  /** When it is over unless it is used again; undefined: never. */
  readonly expiresAt: number | undefined;
  /** Of the last message in the log; 0: there was none yet. */
  readonly seq: number;
  /** Of the first message that is left in the log; `seq` + 1 where none is. */
  readonly firstSeq: number;
  /** Rises with every change of anything but the log, and with its clearing. */
  readonly version: number;
  /** Id of the turn that runs, as far as the store knows: its holder may be gone. */
  readonly activeTurn: string | undefined;
  readonly head: WindowHead | undefined;
}

/** Where the window of the last turn began, and for which model. */
export interface WindowHead {
  readonly seq: number;
  readonly model: string;
}

/** An ETag: the log's last `seq` and the version. */
export interface ExpectedVersion {
  readonly seq: number;
  readonly version: number;
}

/** What a text takes by one encoding; models differ in their ratios only. */
export interface CountedTokens {
  readonly encoding: Encoding;
  readonly tokens: number;
  /** Of them what goes with tool calls. */
  readonly callTokens: number;
}

/** Where a list of conversations goes on: it stays there whatever becomes of the conversation. */
export interface ListPlace {
  readonly updatedAt: number;
  readonly id: string;
}

export interface ListPage {
  /** The last one that is known; undefined: from the beginning. */
  readonly after: ListPlace | undefined;
  readonly limit: number;
}

export interface ConversationList {
  readonly conversations: readonly Conversation[];
  readonly hasMore: boolean;
  /** Of the last one, for the next page; it may differ from that conversation's `updatedAt`. */
  readonly last: ListPlace | undefined;
}
