/** What a request carries to be let in. */
export interface AccessToken {
  readonly token: string;
  /** What else has to go with it, such as the project that pays. */
  readonly headers: Readonly<Record<string, string>>;
  /** Unix milliseconds. */
  readonly expiresAt: number;
}

/** From here on a token is renewed while the old one still serves: Google's live for an hour. */
const AHEAD_MS = 300_000;
/** A token that ends within this time may end on its way. */
const MARGIN_MS = 10_000;
/** Between two tries to renew a token that still serves. */
const PAUSE_MS = 10_000;

/**
 * Keeps one access token fresh. However many calls need it, one renewal is under way at a time; ahead of the token's end nobody waits
 * for it.
 */
export class AccessTokens {
  #token: AccessToken | undefined;
  #renewal: Promise<AccessToken> | undefined;
  #triedAt = Number.NEGATIVE_INFINITY;

  /** @param now - Unix milliseconds */
  constructor(
    private readonly obtain: () => Promise<AccessToken>,
    private readonly now: () => number,
  ) {}

  /** @throws what `obtain` throws, where there is no token to go on with; the signal's reason once it is aborted */
  async get(signal: AbortSignal): Promise<AccessToken> {
    signal.throwIfAborted();
    const token = this.#token;
    const leftMs = token === undefined ? 0 : token.expiresAt - this.now();
    if (token === undefined || leftMs <= MARGIN_MS) return waitFor(this.#renew(), signal);
    if (leftMs <= AHEAD_MS && this.now() - this.#triedAt >= PAUSE_MS) {
      // The old token serves on; if it ends before a new one is there, the failure is met above.
      this.#renew().catch(() => undefined);
    }
    return token;
  }

  /** The provider does not take this token any more: it is not given out again. */
  discard(token: string): void {
    if (this.#token?.token === token) this.#token = undefined;
  }

  #renew(): Promise<AccessToken> {
    if (this.#renewal !== undefined) return this.#renewal;
    this.#triedAt = this.now();
    this.#renewal = this.obtain()
      .then((token) => (this.#token = token))
      .finally(() => (this.#renewal = undefined));
    return this.#renewal;
  }
}

/** Others may wait for the same: one who leaves does not end it. */
function waitFor<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const leave = (): void => {
      reject(signal.reason instanceof Error ? signal.reason : new Error('aborted', { cause: signal.reason }));
    };
    signal.addEventListener('abort', leave, { once: true });
    promise.then(resolve, reject).finally(() => {
      signal.removeEventListener('abort', leave);
    });
  });
}
