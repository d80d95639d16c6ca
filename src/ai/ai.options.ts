import type {
  AttemptSettings,
  CacheSettings,
  LedgerSettings,
  ModelSettings,
  ProviderSettings,
  Tier,
} from '../config/index.js';

export interface AiOptions {
  readonly models: readonly ModelSettings[];
  readonly providers: readonly ProviderSettings[];
  readonly tiers: Readonly<Record<Tier, readonly string[]>>;
  /** How a request is tried again. */
  readonly attempts: AttemptSettings;
  /** How much is kept of what was answered, and how long. */
  readonly cache: CacheSettings;
  /** What is written down of calls, and how long. */
  readonly ledger: LedgerSettings;
  /** The longest that a completion may take, ms. */
  readonly requestDeadlineMs: number;
  /** Set: every model is served by the simulator at this base URL and by nothing else. */
  readonly simulatorUrl?: string;
}

/** Injection token of the options. */
export const AI_OPTIONS = Symbol('AI_OPTIONS');
