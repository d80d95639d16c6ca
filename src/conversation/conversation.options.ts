import type { Catalogue } from '../ai/index.js';
import type { TokenCounters } from '../tokens/index.js';
import type { AnyStore, Durability } from '../store/index.js';
import type { ConversationStore } from './store/index.js';
import type { TurnGenerator } from './turn/generator.js';

export interface ConversationSettings {
  /** How long a conversation is kept after its last turn or change, ms; 0: for ever. Default 30 days. */
  readonly keepMs: number;
  /** How long an Idempotency-Key finds its turn, ms. Default 24 h. */
  readonly idempotencyMs: number;
  /** The longest that a turn may take, and that its request may wait for it, ms. Default 120,000. */
  readonly requestDeadlineMs: number;
  /** How long turns may go on after the shutdown began, ms. Default 10,000. */
  readonly graceMs: number;
  /** What a process that dies in a turn blocks its conversation for, ms. Default 30,000. */
  readonly leaseMs: number;
  /** How many turns may wait for one conversation. Default 3. */
  readonly longestQueue: number;
  /** Between two events of a turn, at least, ms. Default 30. */
  readonly deltaMs: number;
  /** Without news of a turn for so long, its readers look whether anybody still runs it, ms. Default 5,000. */
  readonly quietMs: number;
  /** The most that a prompt may take, tokens. Default: what the model's window leaves. */
  readonly mostInput: number;
}

export interface ConversationModuleOptions extends Partial<ConversationSettings> {
  /** What StoreModule provides under STORE. */
  readonly store: AnyStore;
  /** Where Redis keeps conversations; by default the primary's word is enough. */
  readonly durability?: Durability;
  /** In place of it: another implementation. */
  readonly conversationStore?: ConversationStore;
  readonly catalogue: Catalogue;
  readonly counters: TokenCounters;
  readonly generator: TurnGenerator;
}

const DAY_MS = 86_400_000;

export const DEFAULT_CONVERSATION_SETTINGS: ConversationSettings = Object.freeze({
  keepMs: 30 * DAY_MS,
  idempotencyMs: DAY_MS,
  requestDeadlineMs: 120_000,
  graceMs: 10_000,
  leaseMs: 30_000,
  longestQueue: 3,
  deltaMs: 30,
  quietMs: 5_000,
  mostInput: Number.POSITIVE_INFINITY,
});

/** Injection token of the settings. */
export const CONVERSATION_SETTINGS = Symbol('CONVERSATION_SETTINGS');
/** Injection token of the store. */
export const CONVERSATION_STORE = Symbol('CONVERSATION_STORE');
/** Injection token of the models. */
export const CONVERSATION_CATALOGUE = Symbol('CONVERSATION_CATALOGUE');
/** Injection token of time and timers. */
export const TURN_ENVIRONMENT = Symbol('TURN_ENVIRONMENT');
/** Injection token of what runs of turns need. */
export const RUN_PORTS = Symbol('RUN_PORTS');
