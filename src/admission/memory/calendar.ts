import { ADMISSION_LIMITS } from '../admission.limits.js';

/** When so much will have been released: a bucket, `now`, or undefined where the calendar does not know of so much. */
export type ReleaseTime = number | 'now' | undefined;

/** What is in use of a window, by the bucket of time in which it is released: a ring. */
export class Calendar {
  requests = 0;
  tokens = 0;
  /** The last bucket whose charges were released. */
  rolled: number;
  private readonly requestsIn = new Array<number>(ADMISSION_LIMITS.ring).fill(0);
  private readonly tokensIn = new Array<number>(ADMISSION_LIMITS.ring).fill(0);

  constructor(bucket: number) {
    this.rolled = bucket;
  }

  add(bucket: number, requests: number, tokens: number): void {
    const place = bucket % ADMISSION_LIMITS.ring;
    this.requests += requests;
    this.tokens += tokens;
    this.requestsIn[place] = (this.requestsIn[place] ?? 0) + requests;
    this.tokensIn[place] = (this.tokensIn[place] ?? 0) + tokens;
  }

  /** Releases what is over by the bucket. */
  roll(bucket: number): void {
    const last = Math.min(bucket, this.rolled + ADMISSION_LIMITS.ring);
    for (let at = this.rolled + 1; at <= last; at += 1) {
      this.add(at, -this.#requestsAt(at), -this.#tokensAt(at));
    }
    this.rolled = bucket;
  }

  /**
   * When so many requests, and so many tokens, will have been released.
   * @param last the last bucket that is looked at
   */
  released(requests: number, tokens: number, last = this.rolled + ADMISSION_LIMITS.ring): [ReleaseTime, ReleaseTime] {
    return [
      this.#firstWith(requests, last, (bucket) => this.#requestsAt(bucket)),
      this.#firstWith(tokens, last, (bucket) => this.#tokensAt(bucket)),
    ];
  }

  #firstWith(wanted: number, last: number, amountAt: (bucket: number) => number): ReleaseTime {
    if (wanted <= 0) return 'now';
    let sum = 0;
    for (let bucket = this.rolled + 1; bucket <= last; bucket += 1) {
      sum += amountAt(bucket);
      if (sum >= wanted) return bucket;
    }
    return undefined;
  }

  #requestsAt(bucket: number): number {
    return this.requestsIn[bucket % ADMISSION_LIMITS.ring] ?? 0;
  }

  #tokensAt(bucket: number): number {
    return this.tokensIn[bucket % ADMISSION_LIMITS.ring] ?? 0;
  }
}
