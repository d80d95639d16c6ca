import type { CacheSettings } from '../../config/index.js';

/** A shelf holds so many of the largest answers at least … */
const LEAST_ANSWERS = 4;
/** … and there are no more shelves of a kind than this: in a cluster they lie on different nodes. */
const MOST_SHELVES = 16;

/** A place in the store, with its own bound. */
export interface Shelf {
  readonly shelf: string;
  /** The most that it holds, bytes. */
  readonly shelfBytes: number;
}

/** Where what lies. Cached answers and those of Idempotency-Keys have a half each: neither pushes the other one out. */
export class Shelves {
  readonly #count: number;
  readonly #shelfBytes: number;

  constructor({ maxBytes, maxEntryBytes }: CacheSettings) {
    const half = maxBytes / 2;
    this.#count = Math.min(MOST_SHELVES, Math.max(1, Math.floor(half / (LEAST_ANSWERS * maxEntryBytes))));
    this.#shelfBytes = Math.floor(half / this.#count);
  }

  /** @param digest - hex digits, evenly spread */
  cacheOf(digest: string): Shelf {
    return this.#shelf('c', digest);
  }

  keysOf(digest: string): Shelf {
    return this.#shelf('k', digest);
  }

  #shelf(kind: string, digest: string): Shelf {
    const number = Number.parseInt(digest.slice(0, 8), 16) % this.#count;
    return { shelf: `${kind}${String(number)}`, shelfBytes: this.#shelfBytes };
  }
}
