import type { AttemptSettings, LimitSettings, ProviderKind, TimeoutSettings } from '../../config/index.js';
import type { KeyCard, LatencyCard, MinuteLimits, ParkingCard, RateLimitCard, StandingCard } from '../fleet/index.js';

export type UpstreamStatus = 'in use' | 'cooldown' | 'key refused' | 'quota used up';

/** What a pod knows of the upstreams at one moment. */
export interface Status {
  readonly pod: PodStatus;
  /** Provider by provider. */
  readonly keys: readonly KeyStatus[];
  /** Those that keys in use reach. */
  readonly models: readonly ModelStatus[];
}

export interface PodStatus {
  /** When the process was started, Unix ms. */
  readonly startedAt: number;
  /** The built-in simulator answers in place of all providers. */
  readonly isSimulated: boolean;
  /** The store does not answer: what is known is what this pod has seen itself. */
  readonly isAlone: boolean;
  /** Calls of this pod that are under way, at all deployments. */
  readonly inFlight: number;
  readonly requestDeadlineMs: number;
  readonly attempts: AttemptSettings;
}

/** One key of ours at a provider; named, never shown. */
export interface KeyStatus {
  readonly provider: string;
  readonly key: string;
  readonly kind: ProviderKind;
  /** As good as the best of its deployments. */
  readonly state: UpstreamStatus;
  /** Undefined: nobody was asked, and the key is unrestricted. */
  readonly worth: KeyCard | undefined;
  /** Undefined: it may be used. */
  readonly parking: ParkingCard | undefined;
}

export interface ModelStatus {
  readonly model: string;
  /** As configured. */
  readonly limits: LimitSettings;
  /** As configured. */
  readonly timeouts: TimeoutSettings;
  readonly latency: LatencyCard;
  /** How long a JSON answer of all the tokens that the model may give can take while another candidate is left, ms. */
  readonly answerLimitMs: number;
  /** By how much the providers count more prompt tokens than this service. */
  readonly tokenRatio: number;
  readonly deployments: readonly DeploymentStatus[];
}

export interface DeploymentStatus {
  readonly deployment: string;
  readonly provider: string;
  readonly key: string;
  readonly standing: StandingCard;
  /** Calls of this pod that are under way. */
  readonly inFlight: number;
  /** As configured. */
  readonly limits: LimitSettings;
  /** Limits of a minute that the provider told and that are lower than the configured ones: they hold in their place. */
  readonly learned: MinuteLimits | undefined;
  /** As the provider's last answers told them; those that are not full again yet. */
  readonly rateLimits: readonly RateLimitCard[];
  /** Unix ms; undefined: its vendor has named no end. */
  readonly shutdownAt: number | undefined;
  readonly successor: string | undefined;
}
