/** What the pod is doing: only a serving pod is ready. */
export type Phase = 'booting' | 'serving' | 'draining';

/** The store as the pod sees it now, known without asking it. */
export type StoreState =
  /** In this process: locks and quotas hold within it only. */
  | { readonly kind: 'memory' }
  | {
      readonly kind: 'redis';
      /** What calls do while the store is down: be refused, or go on with a local share of the limits. */
      readonly policy: 'refuse' | 'degrade';
      /** How long the store has not answered, ms; 0 while it answers. */
      readonly downForMs: number;
      /** Where it is down until somebody changes something: what, e.g. `wrong_database`. */
      readonly reason?: string;
    };

/** One upstream as the pod sees it now. Shown by `/ready`, never decisive: a provider's outage must not take pods away. */
export interface UpstreamState {
  readonly provider: string;
  readonly models: readonly string[];
  readonly state: (typeof UPSTREAM_STATES)[number];
}

/** `in use` unless all its deployments are left alone for a while (`cooldown`), or it has refused our keys, or they are used up. */
export const UPSTREAM_STATES = ['in use', 'cooldown', 'key refused', 'quota used up'] as const;

/** Where health looks. All of these answer at once from what the process already knows: probing costs nobody anything. */
export interface HealthOptions {
  readonly phase: () => Phase;
  readonly store: () => StoreState;
  readonly upstreams: () => readonly UpstreamState[];
}
