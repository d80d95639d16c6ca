import { ADMISSION_LIMITS } from '../admission.limits.js';
import type { TokenRule, WindowRule } from '../admission.rules.js';
import type { LearnedLimit, WindowUsage } from '../admission.store.js';
import { Calendar, type ReleaseTime } from './calendar.js';

/** What of a reservation matters to a window. */
export interface Charge {
  readonly tokens: number;
  readonly atMs: number;
  readonly tokenRule: TokenRule;
}

/** What is left, or is to be left, of a window. */
export interface Room {
  readonly requests: number;
  readonly tokens: number;
}

/** What is in use of one sliding window of a scope. */
export class Window {
  requestLimit = Infinity;
  tokenLimit = Infinity;
  /** Tokens of open calls whose release is not known yet. */
  held = 0;
  private readonly calendar: Calendar;
  private paceRequests = 0;
  private paceTokens = 0;
  private pacedUntil = 0;
  private learned: LearnedLimit = { windowMs: 0 };
  private learnedUntil = 0;

  /** @param isLost the scope was in use before: it starts at its pace, without a burst */
  constructor(
    private rule: WindowRule,
    private time: number,
    isLost: boolean,
  ) {
    this.calendar = new Calendar(Math.floor(time / rule.bucketMs), ringOf(rule));
    if (isLost) this.pacedUntil = time + rule.spanMs;
  }

  get windowMs(): number {
    return this.rule.windowMs;
  }

  /** By the rules, whatever was learned. */
  get mostTokens(): number {
    return this.rule.tokens ?? Infinity;
  }

  get learnedForMs(): number {
    return this.learnedUntil - this.time;
  }

  get usage(): WindowUsage {
    return {
      windowMs: this.rule.windowMs,
      requests: this.calendar.requests,
      requestLimit: Number.isFinite(this.requestLimit) ? this.requestLimit : undefined,
      tokens: this.calendar.tokens + this.held,
      tokenLimit: Number.isFinite(this.tokenLimit) ? this.tokenLimit : undefined,
    };
  }

  /** At this time, by these rules. */
  open(rule: WindowRule, time: number): void {
    this.rule = rule;
    this.time = time;
    this.#applyLimits();
    this.calendar.roll(Math.floor(time / rule.bucketMs));
  }

  /** Until what was let in elsewhere so long ago has left it: no burst. */
  pace(agoMs: number): void {
    this.pacedUntil = Math.max(this.pacedUntil, this.time + this.rule.spanMs - agoMs);
  }

  learn(limit: LearnedLimit, forMs: number): void {
    this.learned = limit;
    this.learnedUntil = this.time + forMs;
    this.#applyLimits();
  }

  /** When a call has room if that is by `until`. */
  soon(tokens: number, until: number): number | undefined {
    const last = Math.floor(until / this.rule.bucketMs);
    const needed = this.calendar.requests + 1 - this.requestLimit;
    const [requestsAt, tokensAt] = this.calendar.released(needed, this.#inUse + tokens - this.tokenLimit, last);
    if (requestsAt === undefined || tokensAt === undefined) return undefined;
    return Math.max(this.#timeOf(requestsAt), this.#timeOf(tokensAt), ...this.#paced(0, 0));
  }

  /** When a call of so many tokens has room behind so many calls and tokens: by the requests, and by the tokens. */
  roomAt(tokens: number, callsBefore: number, tokensBefore: number): WindowRoom {
    const { spanMs } = this.rule;
    const [needed, rounds] = fold(this.calendar.requests, callsBefore + 1, this.requestLimit);
    const [neededTokens, roundsOfTokens] = fold(this.#inUse, tokensBefore + tokens, this.tokenLimit);
    const [requestsAt, tokensAt] = this.calendar.released(needed, neededTokens);
    const [pace, paceOfTokens] = this.#paced(callsBefore, tokensBefore);
    return {
      requestsAt: Math.max(this.#timeOf(requestsAt) + rounds * spanMs, pace),
      tokensAt: Math.max(this.#timeOf(tokensAt) + roundsOfTokens * spanMs, paceOfTokens),
      isExact: tokensAt !== undefined,
    };
  }

  /** The share of it that so many calls and tokens take, as a time. */
  costOf(calls: number, tokens: number): number {
    const { windowMs } = this.rule;
    return Math.max((calls * windowMs) / this.requestLimit, (tokens * windowMs) / this.tokenLimit);
  }

  grant(charge: Charge): void {
    const { windowMs } = this.rule;
    this.begin(charge);
    this.paceRequests = Math.max(this.paceRequests, charge.atMs) + windowMs / this.requestLimit;
    this.paceTokens = Math.max(this.paceTokens, charge.atMs) + (charge.tokens * windowMs) / this.tokenLimit;
  }

  /** What a call takes once it has ended. */
  settle(charge: Charge, tokens: number, endedAt: number): void {
    this.end(charge, tokens, endedAt);
    const change = tokens - charge.tokens;
    if (isRefunded(charge.tokenRule)) this.paceTokens += (change * this.rule.windowMs) / this.tokenLimit;
  }

  /** As if it had never been granted. */
  undo(charge: Charge): void {
    this.unbegin(charge);
    this.paceRequests -= this.rule.windowMs / this.requestLimit;
    this.paceTokens -= (charge.tokens * this.rule.windowMs) / this.tokenLimit;
  }

  /** A call begins, here or elsewhere; for who lets in here see grant(). */
  begin(charge: Charge): void {
    const isScheduled = isKnownAtGrant(charge.tokenRule);
    this.calendar.add(this.#bucketAfter(charge.atMs), 1, isScheduled ? charge.tokens : 0);
    this.held += isScheduled ? 0 : charge.tokens;
  }

  /** It has ended. */
  end(charge: Charge, tokens: number, endedAt: number): void {
    const { tokenRule } = charge;
    const change = tokens - charge.tokens;
    const releasedIn = this.#bucketAfter(charge.atMs);
    const endsIn = this.#bucketAfter(endedAt);
    const isCharged = releasedIn > this.calendar.rolled;
    if (!isKnownAtGrant(tokenRule)) this.held -= charge.tokens;
    if (isCharged && tokenRule === 'own') this.calendar.add(releasedIn, 0, change);
    if (isCharged && tokenRule === 'safe') this.calendar.add(releasedIn, 0, Math.max(0, -change));
    if (endsIn > this.calendar.rolled) this.calendar.add(endsIn, 0, tokensAtEnd(tokenRule, tokens, change));
  }

  /** It never was. */
  unbegin(charge: Charge): void {
    const isScheduled = isKnownAtGrant(charge.tokenRule);
    const releasedIn = this.#bucketAfter(charge.atMs);
    if (releasedIn > this.calendar.rolled) this.calendar.add(releasedIn, -1, isScheduled ? -charge.tokens : 0);
    this.held -= isScheduled ? 0 : charge.tokens;
  }

  /** Takes all room but so much until then: it may be somebody else's. */
  leave(room: Room, until: number): void {
    const bucket = Math.ceil(until / this.rule.bucketMs);
    if (bucket <= this.calendar.rolled) return;
    const taken = (limit: number, used: number, left: number): number =>
      limit === Infinity ? 0 : Math.max(0, limit - used - left);
    const requests = taken(this.requestLimit, this.calendar.requests, room.requests);
    this.calendar.add(bucket, requests, taken(this.tokenLimit, this.#inUse, room.tokens));
  }

  get #inUse(): number {
    return this.calendar.tokens + this.held;
  }

  /** Earliest by the pacer, with so much before it: requests, then tokens. */
  #paced(requests: number, tokens: number): [number, number] {
    const { windowMs } = this.rule;
    const burstMs = this.time < this.pacedUntil ? 0 : this.rule.burstMs;
    if (burstMs >= windowMs) return [0, 0];
    const paceAt = (pace: number, amount: number, limit: number): number =>
      limit < Infinity ? Math.ceil(pace + (amount * windowMs) / limit - burstMs) : 0;
    return [paceAt(this.paceRequests, requests, this.requestLimit), paceAt(this.paceTokens, tokens, this.tokenLimit)];
  }

  #applyLimits(): void {
    const isLearned = this.learnedUntil > this.time;
    const { requests = Infinity, tokens = Infinity } = isLearned ? this.learned : {};
    this.requestLimit = Math.min(this.rule.requests ?? Infinity, requests);
    this.tokenLimit = Math.min(this.mostTokens, tokens);
  }

  #timeOf(released: ReleaseTime): number {
    if (released === undefined) return this.time + this.rule.spanMs;
    return released === 'now' ? this.time : released * this.rule.bucketMs;
  }

  #bucketAfter(time: number): number {
    return Math.ceil((time + this.rule.spanMs) / this.rule.bucketMs);
  }
}

export interface WindowRoom {
  readonly requestsAt: number;
  readonly tokensAt: number;
  /** False where it depends on calls that are not over yet. */
  readonly isExact: boolean;
}

/** As many buckets as a span and a look-ahead reach, which is a tenth of the window at most; never more than the scripts have. */
function ringOf({ spanMs, bucketMs }: WindowRule): number {
  return Math.min(ADMISSION_LIMITS.ring, Math.ceil((1.1 * spanMs) / bucketMs) + 4);
}

/** Where what it takes at its end counts, or is given back at once. */
export function isRefunded(rule: TokenRule): boolean {
  return rule === 'own' || rule === 'cmp';
}

function isKnownAtGrant(rule: TokenRule): boolean {
  return rule === 'adm' || rule === 'own';
}

function tokensAtEnd(rule: TokenRule, tokens: number, change: number): number {
  if (rule === 'own') return 0;
  return rule === 'adm' ? Math.max(0, change) : tokens;
}

/** What must be released first, after so many whole windows: the calendar repeats itself. */
function fold(used: number, needed: number, limit: number): [number, number] {
  const excess = used + needed - limit;
  if (excess <= used) return [excess, 0];
  const rounds = Math.ceil((excess - used) / limit);
  return [excess - rounds * limit, rounds];
}
