import {
  SLOT_RULES,
  STORE_DOWN_RULES,
  TOKEN_RULES,
  type SlotRule,
  type StoreDownRule,
  type TokenRule,
} from '../limits.js';
import { count, duration, oneOf } from './checks.js';
import { MappingList, Optional, Required } from './shape.js';

const HOUR_MS = 3_600_000;

/** What may be used within a stretch of time of any length. */
export class WindowFile {
  @Required(duration(1_000, HOUR_MS))
  windowMs!: number | string;

  @Optional(count)
  requests?: number;

  @Optional(count)
  tokens?: number;
}

/** What a model, a deployment or a caller may use. What is left out is unlimited. */
export class LimitsFile {
  /** Requests a minute. */
  @Optional(count)
  rpm?: number;

  /** Tokens a minute. */
  @Optional(count)
  tpm?: number;

  /** Calls at one time. */
  @Optional(count)
  concurrency?: number;

  /** Further windows, for providers that slice finer than a minute. */
  @MappingList(() => WindowFile, 0)
  windows: WindowFile[] = [];

  /** When the provider counts a call's tokens; left out: `safe`, which is right for every one. */
  @Optional(oneOf(TOKEN_RULES))
  tokenRule?: TokenRule;

  /** While the store is away: this pod's part of the limits, or no calls. Left out: `degrade`. */
  @Optional(oneOf(STORE_DOWN_RULES))
  whenStoreDown?: StoreDownRule;

  /** How long a call keeps its place: while its pod gives signs of life, or until its deadline whatever happens. Left out: `heartbeat`. */
  @Optional(oneOf(SLOT_RULES))
  slots?: SlotRule;
}
