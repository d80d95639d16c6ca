import type { PriceSettings, ProviderKind } from '../../src/config/index.js';
import type { Upstream } from '../../src/ai/catalogue/catalogue.js';
import type { ProviderAdapter } from '../../src/ai/upstream/provider.adapter.js';
import type { UndiciTransport } from '../../src/ai/upstream/undici.transport.js';
import type { Blame } from '../../src/ai/upstream/upstream-failure.js';
import type { ErrorCode } from '../../src/http/index.js';
import type { ReceivedRequest, ScriptedUpstream } from '../support/scripted-upstream.js';

/**
 * What one kind of provider brings to the contract suite: its fake, which speaks the provider's documented format, and the tables of
 * what is particular to it. The suite itself knows OpenAI's format only.
 */
export interface ProviderRig {
  readonly kind: ProviderKind;
  /** Starts the fake and makes the adapter under test; both are closed by the suite. */
  readonly start: (transport: UndiciTransport) => Promise<ProviderBench>;
  readonly wire: ProviderWire;
  /** Every refusal that the provider documents, and what is to become of it. */
  readonly refusals: readonly RefusalCase[];
  /** The provider's own words for an end, and OpenAI's. */
  readonly stopReasons: readonly (readonly [native: string, finish: Finish])[];
  /** Usage as the provider counts it, in OpenAI's shape, and its price. */
  readonly usages: readonly UsageCase[];
  /** Members of a request that it has no counterpart for; empty where the caller's format is its own. */
  readonly untranslatable: readonly UntranslatableCase[];
  /** Members that say nothing beyond the default, and so need no counterpart. */
  readonly harmless: readonly Readonly<Record<string, unknown>>[];
}

export interface ProviderBench {
  readonly adapter: ProviderAdapter;
  /** At the fake's address, with credentials that occur nowhere else. */
  readonly upstream: Upstream;
  readonly fake: ScriptedUpstream;
  /** What must be seen in request headers only; at Vertex also the access token. */
  readonly secrets: readonly string[];
  readonly close: () => Promise<void>;
}

/** What a test is given: the bench of the moment, and the rig it was made from. */
export interface Subject {
  readonly rig: ProviderRig;
  readonly bench: () => ProviderBench;
}

/** The provider's format, written without a look at the adapter. */
export interface ProviderWire {
  /** The body of a whole answer. */
  readonly json: (reply: Reply) => unknown;
  /**
   * The same answer as a stream: one string per server-sent event, its blank line included. Texts and tool arguments come in
   * several pieces where they have more than one character.
   */
  readonly frames: (reply: Reply) => readonly string[];
  /** What the provider sends while it is still thinking: a comment, a ping. */
  readonly keepAlive: string;
  /** How an error looks inside a stream: an overload that the provider is to blame for. */
  readonly errorFrame: string;
  /** Where and how it was called. */
  readonly address: (request: CallShape) => {
    readonly path: string;
    readonly headers: Readonly<Record<string, string>>;
  };
  /** Reads a request as the provider does. @throws where the provider would refuse it */
  readonly understand: (request: ReceivedRequest) => Understood;
}

export interface CallShape {
  readonly model: string;
  readonly isStream: boolean;
}

/** What a model answers, in nobody's format. */
export interface Reply {
  readonly content: readonly ReplyPart[];
  readonly finish: Finish;
  readonly usage: ReplyUsage;
  /** In place of what `finish` and `usage` would be written as. */
  readonly native?: { readonly finish?: string; readonly usage?: unknown };
}

export type Finish = 'stop' | 'length' | 'tool_calls' | 'content_filter';

export type ReplyPart =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'reasoning'; readonly text: string }
  | { readonly kind: 'call'; readonly id: string; readonly name: string; readonly arguments: string };

/** All of the prompt's tokens, and those of them that came from a cache. */
export interface ReplyUsage {
  readonly prompt: number;
  readonly cached: number;
  readonly completion: number;
}

/** A request as the provider understands it, in nobody's format. */
export interface Understood {
  readonly model: string;
  readonly system: readonly string[];
  readonly turns: readonly UnderstoodTurn[];
  readonly tools: readonly UnderstoodTool[];
  /** `auto`, `none`, `required`, or the name of the tool to call; undefined: not said. */
  readonly toolChoice?: string;
  /** Undefined: not said. */
  readonly isParallel?: boolean;
  readonly maxTokens?: number;
  readonly temperature?: number;
  readonly topP?: number;
  readonly stop?: readonly string[];
  /** The JSON schema that the answer must follow. */
  readonly schema?: unknown;
  readonly isStream: boolean;
}

export interface UnderstoodTurn {
  readonly role: 'user' | 'assistant';
  readonly parts: readonly UnderstoodPart[];
}

export type UnderstoodPart =
  | { readonly kind: 'text'; readonly text: string }
  /** `source`: a data: or an https: URL. */
  | { readonly kind: 'image'; readonly source: string }
  | { readonly kind: 'call'; readonly name: string; readonly input: unknown }
  /** `of`: the name of the tool that was called. */
  | { readonly kind: 'result'; readonly of: string; readonly text: string };

export interface UnderstoodTool {
  readonly name: string;
  readonly description?: string;
  readonly schema: unknown;
}

export interface RefusalCase {
  readonly name: string;
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** A string is sent as it is. */
  readonly body: unknown;
  readonly blame: Blame;
  readonly code: ErrorCode;
  /** Undefined: none is told. */
  readonly retryAfterMs?: number;
}

export interface UsageCase {
  readonly name: string;
  readonly native: unknown;
  /** The golden object: the `usage` member, whole. */
  readonly usage: unknown;
  readonly prices: PriceSettings;
  readonly costUsd: number;
}

export interface UntranslatableCase {
  /** Joins a valid request; a `messages` in it takes the place of the valid one. */
  readonly members: Readonly<Record<string, unknown>>;
  /** The path that the refusal names. */
  readonly param: string;
}
