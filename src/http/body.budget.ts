import { ApiError } from './api-error.js';
import type { OpenRequest } from './open-request.js';

/** A request's part of what all bodies together may take. */
export interface BodyShare {
  /** So many bytes more, in all. @throws ApiError `overloaded` where others have taken too much for that */
  grow(bytes: number): void;
}

/**
 * What the bodies of all open requests together may take of the memory. A body is there as bytes, as text and as a value, and a call
 * keeps it to its end: a handful of large ones fills a heap that thousands of small ones leave empty.
 */
export class BodyBudget {
  #taken = 0;

  /** @param mostBytes at least the limit of one body: who is alone is never refused */
  constructor(private readonly mostBytes: number) {}

  /** Kept until the request is over. */
  shareOf(openRequest: OpenRequest | undefined): BodyShare {
    let bytes = 0;
    openRequest?.onOver(() => {
      this.#taken -= bytes;
      bytes = 0;
    });
    return {
      grow: (more) => {
        if (this.#taken + more > this.mostBytes && this.#taken > bytes) {
          throw new ApiError('overloaded', 'too many large requests are open at once: try again in a moment');
        }
        if (openRequest?.isOver === true) return;
        bytes += more;
        this.#taken += more;
      },
    };
  }
}
