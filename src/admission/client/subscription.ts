import type { ClientEnvironment, ClientTimer } from '../../store/index.js';

export interface SubscriptionPort {
  /** @throws what the store throws; then it is not subscribed */
  subscribe(): Promise<void>;
  /** It stands. */
  stands(): void;
  /** Somebody still waits for messages. */
  isWanted(): boolean;
}

/** Until a subscription that failed is tried again, ms. */
const RETRY_MS = 200;

/** The messages of the shared store to this process: asked for once, and again where that failed. Without them only polls bring grants. */
export class Subscription {
  #begun: Promise<void> | undefined;
  #retry: ClientTimer | undefined;
  #isClosed = false;

  constructor(
    private readonly environment: ClientEnvironment,
    private readonly port: SubscriptionPort,
  ) {}

  get isBegun(): boolean {
    return this.#begun !== undefined;
  }

  begin(): void {
    this.#begun ??= this.port
      .subscribe()
      .then(() => {
        this.port.stands();
      })
      .catch(() => {
        this.#begun = undefined;
        if (this.#isClosed) return;
        this.#retry = this.environment.after(RETRY_MS, () => {
          if (this.port.isWanted()) this.begin();
        });
      });
  }

  /** Asks no more. */
  close(): void {
    this.#isClosed = true;
    this.#retry?.cancel();
  }
}
