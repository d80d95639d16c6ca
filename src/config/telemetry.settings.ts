/** Where traces and metrics are exported to. Told by the standard variables of OpenTelemetry. */
export interface TelemetrySettings {
  /** `service.name`. */
  readonly serviceName: string;
  /** Attributes of whatever is exported, besides the service's name and version. */
  readonly resource: Readonly<Record<string, string>>;
  /** Undefined: nothing is traced. */
  readonly traces?: OtlpSettings;
  /** Undefined: metrics are served for Prometheus only. */
  readonly metrics?: OtlpSettings & {
    /** Between two exports, ms. Default 60,000. */
    readonly intervalMs: number;
  };
  readonly sampler: SamplerSettings;
  /** Whether a caller's `traceparent` is believed, and the upstream is sent one. */
  readonly propagates: boolean;
}

export const OTLP_PROTOCOLS = ['http/protobuf', 'http/json'] as const;
export type OtlpProtocol = (typeof OTLP_PROTOCOLS)[number];

/** One signal's way to its collector. */
export interface OtlpSettings {
  /** Whole, with the signal's path. */
  readonly url: string;
  /** Secrets, mostly. */
  readonly headers: Readonly<Record<string, string>>;
  readonly protocol: OtlpProtocol;
  /** For one batch, its retries included, ms. Default 10,000. */
  readonly timeoutMs: number;
  readonly isCompressed: boolean;
}

export interface SamplerSettings {
  /** A caller that has decided is followed. */
  readonly isParentBased: boolean;
  /** Of the traces that begin here, and of all where no parent is followed, 0 to 1. */
  readonly ratio: number;
}
