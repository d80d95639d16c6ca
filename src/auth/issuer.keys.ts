import { errors } from 'jose';
import { TokensUnavailableError } from './auth.errors.js';
import type { KeySet } from './jwks.source.js';

/** Keys that are younger are not asked for again, ms. */
export const FRESH_MS = 600_000;
/** While the issuer is away, its keys are good for so long, ms. */
export const STALE_MS = 86_400_000;
/** Between two fetches, whatever the reason, ms: strangers can name key ids that nobody has as often as they like. */
export const REFETCH_MS = 10_000;

export interface IssuerKeysOptions {
  readonly fetch: () => Promise<KeySet>;
  /** Milliseconds that never step back. */
  readonly elapsed: () => number;
  /** Hears of each fetch that failed. Must not throw. */
  readonly onFailure: (error: unknown) => void;
}

/**
 * The public keys of one issuer, fetched when they are needed: first, when they have become old, and when a token names a key that is
 * not among them, since issuers roll their keys over. One fetch at a time, and not more often than {@link REFETCH_MS}. An issuer that
 * is away costs nothing while the keys that are here will do.
 */
export class IssuerKeys {
  #keys: KeySet | undefined;
  #fetchedAt = Number.NEGATIVE_INFINITY;
  #triedAt = Number.NEGATIVE_INFINITY;
  #fetching: Promise<void> | undefined;

  constructor(private readonly options: IssuerKeysOptions) {}

  /**
   * The key for a token's header.
   *
   * @throws {TokensUnavailableError} where there are no keys to look among
   * @throws {errors.JWKSNoMatchingKey} where none of them fits
   */
  readonly find: KeySet = async (header, token) => {
    if (this.#age() > FRESH_MS) await this.#refresh();
    const keys = this.#usable();
    try {
      return await keys(header, token);
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
      await this.#refresh();
      const newer = this.#usable();
      if (newer === keys) throw error;
      return newer(header, token);
    }
  };

  /** Fetches the keys before anybody asks for them. Never fails. */
  warm(): Promise<void> {
    return this.#refresh();
  }

  #age(): number {
    return this.options.elapsed() - this.#fetchedAt;
  }

  #usable(): KeySet {
    if (this.#keys !== undefined && this.#age() <= STALE_MS) return this.#keys;
    throw new TokensUnavailableError(Math.max(0, this.#triedAt + REFETCH_MS - this.options.elapsed()));
  }

  /** Waits for the fetch under way, or for a new one where it is time for it. */
  async #refresh(): Promise<void> {
    if (this.#fetching === undefined && this.options.elapsed() - this.#triedAt >= REFETCH_MS) {
      this.#triedAt = this.options.elapsed();
      this.#fetching = this.#fetch().finally(() => (this.#fetching = undefined));
    }
    await this.#fetching;
  }

  async #fetch(): Promise<void> {
    try {
      this.#keys = await this.options.fetch();
      this.#fetchedAt = this.options.elapsed();
    } catch (error) {
      this.options.onFailure(error);
    }
  }
}
