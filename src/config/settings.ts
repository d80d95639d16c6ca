import type { CallerSettings, IssuerSettings, Tier } from './caller.settings.js';
import type { LimitSettings } from './limits.js';
import type { TelemetrySettings } from './telemetry.settings.js';

/** Everything the process is told from outside, parsed once at boot and frozen. All durations are milliseconds. */
export interface Settings {
  readonly isProduction: boolean;
  readonly server: ServerSettings;
  readonly store: StoreSettings;
  /** How many pods share the quotas; used where the store is down and each pod must take its part. */
  readonly expectedPods: number;
  /** Where completions go: the keyed providers, or the built-in simulator. */
  readonly upstream: 'providers' | 'simulator';
  readonly providers: readonly ProviderSettings[];
  readonly models: readonly ModelSettings[];
  readonly tiers: Readonly<Record<Tier, readonly string[]>>;
  /** How a request is tried again. */
  readonly attempts: AttemptSettings;
  readonly cache: CacheSettings;
  readonly ledger: LedgerSettings;
  readonly conversations: ConversationSettings;
  readonly callers: readonly CallerSettings[];
  /** Whose tokens are taken beside the callers' keys. */
  readonly issuers: readonly IssuerSettings[];
  readonly telemetry: TelemetrySettings;
  /** What an operator must see at boot: embedded store, simulator upstream, anonymous callers, models near their end. */
  readonly notices: readonly string[];
}

export const PROVIDER_KINDS = ['openai', 'azure', 'anthropic', 'vertex'] as const;
export type ProviderKind = (typeof PROVIDER_KINDS)[number];

export const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

export interface ServerSettings {
  readonly host: string;
  /** 0 = any free port. */
  readonly port: number;
  /** A second port for /metrics only; undefined: /metrics is served on the main port. */
  readonly metricsPort?: number;
  /** Browsers' origins that may call; `*` = any; empty = none. */
  readonly corsOrigins: readonly string[];
  /** Fastify's trustProxy: false, true, a hop count or a list of addresses/CIDRs. */
  readonly trustProxy: boolean | number | readonly string[];
  /** Largest accepted request body, bytes. Default 32 MiB. */
  readonly bodyLimitBytes: number;
  /** The longest a request may take in all, ms. Default 120,000. */
  readonly requestDeadlineMs: number;
  /** How long open requests may go on after SIGTERM, ms. */
  readonly shutdownGraceMs: number;
  /** How long new requests are still taken after SIGTERM while /ready already says 503, ms. */
  readonly drainDelayMs: number;
  readonly logLevel: LogLevel;
  /** True when only loopback Host names are answered (no callers configured). */
  readonly loopbackHostsOnly: boolean;
}

export type StoreSettings =
  | { readonly kind: 'memory' }
  | ({ readonly kind: 'standalone'; readonly host: string; readonly port: number } & RedisOptions)
  | ({
      readonly kind: 'sentinel';
      readonly sentinels: readonly Address[];
      readonly master: string;
      readonly sentinelUsername?: string;
      readonly sentinelPassword?: string;
    } & RedisOptions)
  | ({ readonly kind: 'cluster'; readonly nodes: readonly Address[] } & RedisOptions);

export interface Address {
  readonly host: string;
  readonly port: number;
}

export interface RedisOptions {
  readonly username?: string;
  readonly password?: string;
  readonly db: number;
  readonly tls: boolean;
  /** PEM text of the CA, already read from its file. */
  readonly tlsCa?: string;
  /** What this side shows of itself, where Redis asks for it (mTLS): PEM texts, both or none. */
  readonly tlsCert?: string;
  readonly tlsKey?: string;
  readonly keyPrefix: string;
}

export interface ProviderSettings {
  /** `holysheep`, `openai`, …; what `x-coordinator-provider` says. */
  readonly name: string;
  readonly kind: ProviderKind;
  /** Without a trailing slash, e.g. `https://api.openai.com/v1`. */
  readonly baseUrl: string;
  /** The environment variables that may hold a key, in the order of the file; for messages. */
  readonly keyVariables: readonly string[];
  /** The keys that are set, in the order of their variables; none = this provider is not used. */
  readonly apiKeys: readonly string[];
  /** For each of `apiKeys` the variable that it came from; for messages. */
  readonly apiKeyVariables: readonly string[];
  /** Path under baseUrl that answers `{tier, remaining}`; undefined: the key is unrestricted. */
  readonly usagePath?: string;
  /** Set: Azure's classic URLs with this `api-version`, under the resource's endpoint. Undefined: its v1 API. */
  readonly apiVersion?: string;
  /** How it says that a prompt is too long, besides the usual words; tested against its message. */
  readonly contextErrorPatterns: readonly RegExp[];
  /** True: `baseUrl`'s host may have a private address although nothing in its name says so. */
  readonly allowPrivate: boolean;
}

/** How a model's text is counted: an encoding, and a factor on its result. */
export interface TokenizerSettings {
  readonly encoding: 'o200k' | 'claude' | 'bytes';
  readonly ratio: number;
}

export interface ModelSettings {
  /** The catalogue name. */
  readonly name: string;
  readonly aliases: readonly string[];
  /** Unix seconds, for OpenAI's list. */
  readonly created: number;
  readonly ownedBy: string;
  /** Tokens. */
  readonly contextWindow: number;
  /** Tokens. */
  readonly maxOutputTokens: number;
  /** True when input and output have separate limits (Gemini): the prompt alone must fit the window. */
  readonly separateInputLimit: boolean;
  readonly supportsTemperature: boolean;
  readonly tokenizer: TokenizerSettings;
  readonly limits: LimitSettings;
  readonly timeouts: TimeoutSettings;
  /** How long a slot is leased, ms. */
  readonly slotLeaseMs: number;
  /** How long a call may wait for room before a fallback is looked at, ms. */
  readonly busyWaitMs: number;
  /** What a call without max_tokens is taken to answer until it has, tokens. */
  readonly expectedOutputTokens: number;
  /** How long an answer is given again to the same request, ms; 0: never. */
  readonly cacheTtlMs: number;
  /** Catalogue names, in order. */
  readonly fallbacks: readonly string[];
  /** In which order deployments are tried: as listed, or the lowest price first. */
  readonly prefer: 'listed' | 'cheapest';
  readonly deployments: readonly DeploymentSettings[];
  /** How the simulator plays this model. */
  readonly simulated: LatencyProfile;
}

export interface TimeoutSettings {
  /** TCP + TLS. Default 3,000 ms. */
  readonly connectMs: number;
  /** From sending to the first content, where another candidate is left. */
  readonly firstTokenMs: number;
  /** Between two pieces of an answer. Default 30,000 ms. */
  readonly idleMs: number;
}

export interface LatencyProfile {
  readonly firstTokenMs: number;
  readonly tokensPerSecond: number;
}

export interface DeploymentSettings {
  /** Name of its provider. */
  readonly provider: string;
  /** The model's name at that provider. */
  readonly model: string;
  /** Undefined = unpriced. */
  readonly prices?: PriceSettings;
  readonly limits: LimitSettings;
  /** Unix milliseconds after which the vendor answers no more. */
  readonly shutdownAt?: number;
  /** What the vendor names in its place. */
  readonly successor?: string;
}

/** USD per million tokens. */
export interface PriceSettings {
  readonly input: number;
  /** Of the prompt's tokens those that the provider had cached. */
  readonly cachedInput: number;
  /** Of the prompt's tokens those that the provider wrote to its cache; undefined: at the price of input. */
  readonly cacheWrite?: number;
  /** Of them those that it keeps for an hour; undefined: at the price of the others. */
  readonly cacheWrite1h?: number;
  readonly output: number;
}

/** How often and with which waits one request is tried, over all deployments. */
export interface AttemptSettings {
  /** Calls of providers for one request. Default 6. */
  readonly perRequest: number;
  /** Calls of one deployment for one request. Default 2. */
  readonly perDeployment: number;
  /** The first retry waits up to this, each further one up to twice as long. Default 250 ms. */
  readonly firstBackoffMs: number;
  /** Default 4,000 ms. */
  readonly longestBackoffMs: number;
  /** A provider that asks for more patience than this is left while somebody else could answer. Default 10,000 ms. */
  readonly patienceMs: number;
}

/** Answers that are kept to be given again. */
export interface CacheSettings {
  /** All kept answers together, bytes. Default 256 MiB. */
  readonly maxBytes: number;
  /** A larger answer is not kept, bytes. Default 1 MiB. */
  readonly maxEntryBytes: number;
  /** For how long an Idempotency-Key gets the same answer, ms. Default 24 h. */
  readonly idempotencyMs: number;
}

/** What is written down of every call. */
export interface LedgerSettings {
  /** How long an entry is kept, ms. Default 35 days. */
  readonly keepMs: number;
}

/** Conversations that are kept here. */
export interface ConversationSettings {
  /** After their last turn, ms; 0: for ever. Default 30 days. */
  readonly keepMs: number;
  /** The most that a prompt may take, tokens; undefined: what the model's window leaves. */
  readonly maxInputTokens?: number;
  /** How many replicas of Redis must have a turn before it is acknowledged; undefined: the primary's word is enough. */
  readonly replicas?: number;
}
