import type { WireHabits } from '../wire/wire.writer.js';

export const ENDPOINTS = ['chat', 'models', 'usage'] as const;
export type Endpoint = (typeof ENDPOINTS)[number];

/** Which requests a script is for. All given conditions must hold. */
export interface ScriptTarget {
  /** Default `chat`. */
  readonly endpoint: Endpoint;
  /** The model as the request names it. */
  readonly model?: string;
  /** A part of the raw body. */
  readonly contains?: string;
  /** The end of the Bearer key. */
  readonly keyEndsWith?: string;
  /** The probability with which it takes a request that it is for, by the seed. */
  readonly share?: number;
}

/** What happens to the requests that a script takes. */
export interface ScriptedBehaviour extends WireHabits {
  /** Before anything else, real milliseconds. */
  readonly delayMs?: number;
  /** TCP reset before a byte is sent. */
  readonly reset?: boolean;
  /** The connection stays open and silent. */
  readonly neverAnswer?: boolean;
  /** Answers with this status, and `body`, or what a provider typically says with it. */
  readonly status?: number;
  /** Answers with this body: a string as it is, anything else as JSON. */
  readonly body?: unknown;
  /** 200 with a body that says JSON and is none. */
  readonly garbageBody?: boolean;
  /** Added to whatever answer is sent; they replace the usual ones. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The reply's text. */
  readonly text?: string;
  /** The usage object; null: none is told. */
  readonly usage?: unknown;
  /** Replaces the whole stream: 200, then each string as it is. */
  readonly frames?: readonly string[];
  /** The head is sent at once, before the first token's time. */
  readonly earlyHead?: boolean;
  /** Comment lines while waiting and before every frame of a stream; empty lines before a JSON body. Implies earlyHead. */
  readonly comments?: boolean;
  /** After so many frames: the connection is destroyed. */
  readonly cutAfterFrames?: number;
  /** After so many frames: a clean end of the body, without `[DONE]`. */
  readonly endAfterFrames?: number;
  /** After so many frames: one frame that is no JSON; the stream goes on. */
  readonly garbageAfterFrames?: number;
  /** After so many frames: one frame with `error`, then the end. */
  readonly errorAfterFrames?: number;
  readonly error?: unknown;
  /** After so many frames: silence, for `stallMs` or until the client leaves. */
  readonly stallAfterFrames?: number;
  readonly stallMs?: number;
}

export interface Script {
  readonly target: ScriptTarget;
  readonly behaviour: ScriptedBehaviour;
  /** How many requests it takes; undefined: all. */
  readonly times?: number;
}
