/** When a provider counts a call's tokens: at admission, when it is complete, or nobody knows, which `safe` is right for. */
export const TOKEN_RULES = ['safe', 'adm', 'cmp'] as const;
export type TokenRule = (typeof TOKEN_RULES)[number];

/** What happens to calls while the store is away: this pod's part of the limits is used, or they are refused. */
export const STORE_DOWN_RULES = ['degrade', 'refuse'] as const;
export type StoreDownRule = (typeof STORE_DOWN_RULES)[number];

/** How long a call keeps its slot: while its pod gives signs of life, or until its deadline whatever happens. */
export const SLOT_RULES = ['heartbeat', 'strict'] as const;
export type SlotRule = (typeof SLOT_RULES)[number];

/** Over all pods together. What is undefined is unlimited. */
export interface LimitSettings {
  /** Requests a minute. */
  readonly rpm?: number;
  /** Tokens a minute. */
  readonly tpm?: number;
  /** Calls at one time. */
  readonly concurrency?: number;
  /** Besides the minute of `rpm` and `tpm`; each of another length. */
  readonly windows?: readonly WindowSettings[];
  /** Default: safe. */
  readonly tokenRule?: TokenRule;
  /** Default: degrade. */
  readonly whenStoreDown?: StoreDownRule;
  /** Default: heartbeat. */
  readonly slots?: SlotRule;
}

/** What may be used within any stretch of time of this length. */
export interface WindowSettings {
  readonly windowMs: number;
  readonly requests?: number;
  readonly tokens?: number;
}

/** Days and months are those of UTC. */
export interface BudgetSettings {
  readonly usdPerDay?: number;
  readonly usdPerMonth?: number;
  /** Tokens of prompts and answers. */
  readonly tokensPerDay?: number;
  readonly tokensPerMonth?: number;
  /** Hard: refused before it is exceeded, and every call carries max_tokens. */
  readonly hard: boolean;
}
