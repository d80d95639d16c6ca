import { ADMISSION_LIMITS } from '../admission.limits.js';

/** When so much will have been released: a bucket, `now`, or undefined where the calendar does not know of so much. */
export type ReleaseTime = number | 'now' | undefined;

/** What is in use of a window, by the bucket of time in which it is released: a ring. */
export class Calendar {
  requests = 0;
  tokens = 0;
  private readonly requestsIn: number[];
  private readonly tokensIn: number[];

  /**
   * @param rolled the last bucket whose charges were released
   * @param ring how many buckets of the future it can tell apart
   */
  constructor(
    public rolled: number,
    private readonly ring: number = ADMISSION_LIMITS.ring,
  ) {
    this.requestsIn = new Array<number>(ring).fill(0);
    this.tokensIn = new Array<number>(ring).fill(0);
  }

  add(bucket: number, requests: number, tokens: number): void {
    const place = bucket % this.ring;
    this.requests += requests;
    this.tokens += tokens;
    this.requestsIn[place] = (this.requestsIn[place] ?? 0) + requests;
    this.tokensIn[place] = (this.tokensIn[place] ?? 0) + tokens;
  }

  /** Releases what is over by the bucket. */
  roll(bucket: number): void {
    const last = Math.min(bucket, this.rolled + this.ring);
    for (let at = this.rolled + 1; at <= last; at += 1) {
      this.add(at, -this.#requestsAt(at), -this.#tokensAt(at));
    }
    this.rolled = bucket;
  }

  /**
   * When so many requests, and so many tokens, will have been released.
   * @param last the last bucket that is looked at
   */
  released(requests: number, tokens: number, last = this.rolled + this.ring): [ReleaseTime, ReleaseTime] {
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
    return this.requestsIn[bucket % this.ring] ?? 0;
  }

  #tokensAt(bucket: number): number {
    return this.tokensIn[bucket % this.ring] ?? 0;
  }
}
