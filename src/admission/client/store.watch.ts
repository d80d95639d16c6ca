import { type ClientEnvironment, type ClientTimer, StoreConfigurationError, StoreError } from '../../store/index.js';
import { AdmissionStoreError } from '../admission.errors.js';

/** up: it answers · silent: it failed a moment ago, and may be back at once · away: for longer than that */
export type StoreState = 'up' | 'silent' | 'away';

export interface StoreWatchHooks {
  /** The first failure since it answered last. */
  lost(error: unknown): void;
  /** It did not come back at once. */
  away(): void;
  back(downForMs: number): void;
}

/** A store that has just failed is given so long, ms; a lost answer or a restart may be over by then, and nobody decides without it. */
const PATIENCE_MS = 1_000;
/** Between two looks whether it is back, ms. */
const PROBE_MS = 250;
/** A store that has answered for so long is looked at again at once, ms. */
const CALM_MS = 10_000;

/**
 * Whether the shared store answers, judged by what happened anyway. Once it fails nobody asks it but one probe, so that an outage
 * costs no call its time.
 */
export class StoreWatch {
  #state: StoreState = 'up';
  #since = 0;
  #backAt = -Infinity;
  #error: unknown;
  #patience: ClientTimer | undefined;
  #probe: ClientTimer | undefined;
  #isStopped = false;
  readonly #listeners = new Set<() => void>();

  constructor(
    private readonly environment: ClientEnvironment,
    private readonly hooks: StoreWatchHooks,
  ) {}

  get state(): StoreState {
    return this.#state;
  }

  /** How long it has not answered, ms; 0 while it does. */
  get downForMs(): number {
    return this.#state === 'up' ? 0 : Math.max(1, Math.round(this.environment.now() - this.#since));
  }

  /** Why it did not answer last. */
  get error(): unknown {
    return this.#error;
  }

  /** @param again asks the same part of the store once more */
  failed(error: unknown, again: () => Promise<unknown>): void {
    if (this.#state !== 'up' || this.#isStopped || !isOutage(error)) return;
    this.#state = 'silent';
    this.#since = this.environment.now();
    this.#error = error;
    this.#patience = this.environment.after(PATIENCE_MS, () => {
      this.#state = 'away';
      this.#tell();
      this.hooks.away();
    });
    this.hooks.lost(error);
    // One lost answer costs nobody anything; a store that fails again and again is not hurried.
    this.#probeAfter(this.#since - this.#backAt < CALM_MS ? PROBE_MS : 0, again);
  }

  /** Calls once, when the state is another. @returns takes the listener off */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  stop(): void {
    this.#isStopped = true;
    this.#patience?.cancel();
    this.#probe?.cancel();
  }

  #probeAfter(ms: number, again: () => Promise<unknown>): void {
    if (this.#isStopped) return;
    this.#probe = this.environment.after(ms, () => {
      again().then(
        () => {
          this.#returned();
        },
        (error: unknown) => {
          if (isOutage(error)) this.#probeAfter(PROBE_MS, again);
          else this.#returned();
        },
      );
    });
  }

  #returned(): void {
    if (this.#isStopped) return;
    const { downForMs } = this;
    this.#patience?.cancel();
    this.#state = 'up';
    this.#backAt = this.environment.now();
    this.hooks.back(downForMs);
    this.#tell();
  }

  #tell(): void {
    const listeners = [...this.#listeners];
    this.#listeners.clear();
    for (const listener of listeners) listener();
  }
}

/**
 * Whether a failure says something of the store as a whole. A scope whose keys are damaged, or somebody else's, and answers that
 * can't be read say nothing of other scopes.
 */
export function isOutage(error: unknown): boolean {
  if (error instanceof StoreConfigurationError)
    return error.reason !== 'wrong_type' && error.reason !== 'script_failed';
  return error instanceof StoreError || error instanceof AdmissionStoreError;
}
