import type { MessageStatus } from '../window/message.card.js';
import type { Conversation, ExpectedVersion, WindowHead } from './conversation.js';
import type { Message, NewMessage } from './message.js';

/** Of a turn that is over, the status of its last message. */
export type TurnStatus = 'running' | MessageStatus;

export interface Turn {
  readonly id: string;
  readonly status: TurnStatus;
  readonly model: string;
  /** What it was asked with, to be shown and asked again: JSON. */
  readonly request: string;
  readonly startedAt: number;
  readonly endedAt: number | undefined;
  /** It runs, and somebody asked for its end. */
  readonly isCancelled: boolean;
  /** It answers again: the messages from this `seq` to its own are no part of its window, and are superseded when it ends, unless it failed. */
  readonly supersedesFrom: number | undefined;
  /** All that are its own, in order; pending while it runs. */
  readonly messages: readonly [Message, ...Message[]];
  /** JSON of the window that was sent. */
  readonly window: string | undefined;
  /** JSON of the error that ended it. */
  readonly error: string | undefined;
}

export interface TurnStart {
  /** Made by newTurnToken(); the same when the start is repeated after a lost answer. */
  readonly token: string;
  /** Of the lock. */
  readonly fence: number;
  /** The process that runs it, which is told of cancellations. */
  readonly process: string;
  /** Undefined: the caller gave none. */
  readonly key: TurnKey | undefined;
  readonly ifVersion: ExpectedVersion | undefined;
  readonly messages: readonly [NewMessage, ...NewMessage[]];
  readonly model: string;
  readonly request: string;
  /** Id of the last turn, which is to be answered again. */
  readonly replaces: string | undefined;
}

/** An Idempotency-Key. */
export interface TurnKey {
  readonly hash: string;
  readonly bodyHash: string;
  /** How long it finds its turn, ms. */
  readonly keepMs: number;
}

export type StartAnswer =
  | { readonly kind: 'started'; readonly turn: Turn; readonly conversation: Conversation }
  /** The key was used for it; `isSame`: with the same body. */
  | { readonly kind: 'known'; readonly turn: Turn; readonly isSame: boolean }
  /** It was left running by a holder of the lock that is no more: to be ended first. */
  | { readonly kind: 'left'; readonly turn: Turn }
  /** `changed`: not the expected version, or what it replaces is not the last turn. */
  | { readonly kind: 'missing' | 'changed' | 'fenced' };

export interface KeyedTurn {
  readonly turn: Turn;
  /** The key was used with the same body. */
  readonly isSame: boolean;
}

export interface TurnEvent {
  /** `turn`, `delta`, `done` or `error`. */
  readonly name: string;
  /** JSON on one line. */
  readonly data: string;
}

/** `cancelled`: added, and somebody asked for the end of the turn. `over`: it does not run any more. */
export type TellAnswer = 'added' | 'cancelled' | 'over' | 'fenced' | 'missing';

export interface EventRequest {
  /** Undefined: from the first. */
  readonly afterId: number | undefined;
  readonly limit: number;
  /** Told of what comes later while the turn runs. */
  readonly process: string | undefined;
}

export interface EventPage {
  /** Their ids count from 1, without gaps. */
  readonly events: readonly (TurnEvent & { readonly id: number })[];
  readonly status: TurnStatus;
  /** False: the first that was asked for, or all of them, were there and are gone; the turn itself is what is left. */
  readonly isWhole: boolean;
}

export interface TurnEnd {
  /** Of whoever ends it: the holder that runs it, or one after it. */
  readonly fence: number;
  readonly status: MessageStatus;
  /** The replies, which follow the messages of its start in the log. */
  readonly messages: readonly [NewMessage, ...NewMessage[]];
  readonly window: string | undefined;
  readonly error: string | undefined;
  readonly head: WindowHead | 'as-before' | undefined;
  /** The last events, written with the end in one. */
  readonly events: readonly TurnEvent[];
}

export type EndAnswer =
  | { readonly kind: 'ended'; readonly turn: Turn; readonly conversation: Conversation }
  | { readonly kind: 'missing' | 'fenced' };

/** `cancelled`: to whoever runs it. Else to whoever reads along. */
export interface TurnNews {
  readonly kind: 'events' | 'ended' | 'cancelled';
  readonly turnId: string;
}
