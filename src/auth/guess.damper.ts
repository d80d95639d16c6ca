/** How many wrong keys a client may present at once before it is damped. */
export const TOLERATED_GUESSES = 20;
/** After this time one of them is forgotten, ms: a damped client has so many guesses and no more. */
export const FORGET_ONE_MS = 3_000;
/** A key that a client has used is looked at for so long although it is damped, ms. */
export const PROVEN_MS = 3_600_000;
/** How many clients are remembered; the one that was quiet for the longest is forgotten first. */
export const MOST_CLIENTS = 10_000;
const MOST_PROVEN_KEYS = 64;
/** How old the note of a used key may be before it is written anew, ms. */
const RENEW_MS = 60_000;

interface Client {
  /** Guesses that are not forgotten, as of `countedAt`. */
  guesses: number;
  countedAt: number;
  /** That somebody was told; until it has behaved for a while. */
  isTold: boolean;
  /** When the keys that it has used were last seen. */
  readonly proven: Map<number, number>;
}

/**
 * Slows down whoever tries keys: a client that has presented too many wrong ones is damped until some are forgotten. Other clients
 * are never touched, and neither are those behind the same address whose keys were good before. All of it is this pod's own memory,
 * and bounded.
 */
export class GuessDamper {
  readonly #clients = new Map<string, Client>();

  /** @param elapsed milliseconds that never step back */
  constructor(private readonly elapsed: () => number) {}

  /** Until another key of this client is looked at, ms; 0: it is not damped. */
  waitOf(client: string): number {
    const known = this.#clients.get(client);
    if (known === undefined) return 0;
    const excess = this.#guessesOf(known) - (TOLERATED_GUESSES - 1);
    return Math.max(0, Math.ceil(excess * FORGET_ONE_MS));
  }

  /** Notes a wrong key; true where the client is damped from now on, once for as long as it goes on. */
  missed(client: string): boolean {
    const known = this.#touch(client);
    const before = this.#guessesOf(known);
    if (before < TOLERATED_GUESSES / 2) known.isTold = false;
    known.guesses = Math.min(TOLERATED_GUESSES, before + 1);
    known.countedAt = this.elapsed();
    const isNews = this.waitOf(client) > 0 && !known.isTold;
    if (isNews) known.isTold = true;
    return isNews;
  }

  /** Notes a key that was good. */
  used(client: string, key: number): void {
    const seenAt = this.#clients.get(client)?.proven.get(key);
    const now = this.elapsed();
    if (seenAt !== undefined && now - seenAt < RENEW_MS) return;
    const { proven } = this.#touch(client);
    proven.delete(key);
    proven.set(key, now);
    if (proven.size > MOST_PROVEN_KEYS) forgetFirst(proven);
  }

  /** True where the client has used this key lately. */
  isProven(client: string, key: number): boolean {
    const seenAt = this.#clients.get(client)?.proven.get(key);
    return seenAt !== undefined && this.elapsed() - seenAt < PROVEN_MS;
  }

  /** How many clients are remembered. */
  get size(): number {
    return this.#clients.size;
  }

  #guessesOf({ guesses, countedAt }: Client): number {
    return Math.max(0, guesses - (this.elapsed() - countedAt) / FORGET_ONE_MS);
  }

  /** The client, as the one that was heard of last. */
  #touch(client: string): Client {
    const known = this.#clients.get(client) ?? {
      guesses: 0,
      countedAt: this.elapsed(),
      isTold: false,
      proven: new Map<number, number>(),
    };
    this.#clients.delete(client);
    this.#clients.set(client, known);
    if (this.#clients.size > MOST_CLIENTS) forgetFirst(this.#clients);
    return known;
  }
}

function forgetFirst<K>(map: Map<K, unknown>): void {
  for (const key of map.keys()) {
    map.delete(key);
    return;
  }
}
