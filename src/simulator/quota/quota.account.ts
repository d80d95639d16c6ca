import { QuotaBooks, type CallEnd } from './quota.books.js';
import type { QuotaLimits, WindowLimit } from './quota.limits.js';
import { longestOf, type QuotaRefusal } from './quota.refusal.js';
import { SlidingLoad, type Charge } from './sliding.load.js';

/** What a request asks for. */
export interface Demand {
  readonly promptTokens: number;
  /** `max_tokens` of all its choices; undefined: it has none. */
  readonly outputTokens: number | undefined;
}

/** A call that was let in: what is still to be settled. */
export interface OpenCall {
  readonly charges: readonly (readonly [tokens: SlidingLoad, charge: Charge])[];
}

export type Verdict =
  { readonly call: OpenCall; readonly refusal?: never } | { readonly refusal: QuotaRefusal; readonly call?: never };

/** One window of an account and what lies on it. */
export interface AccountWindow {
  readonly limit: WindowLimit;
  readonly requests: SlidingLoad;
  readonly tokens: SlidingLoad;
}

/** Nobody knows when a slot gets free, or when a call ends that outlasts its window. */
const UNKNOWN_WAIT_MS = 1_000;

/**
 * The quota of one model and key, and its books. Each request is judged as of its moment: `now` is in monotonic milliseconds and never steps back.
 * A refused request charges nothing.
 */
export class QuotaAccount {
  private readonly books = new QuotaBooks();
  private accountWindows: readonly AccountWindow[];

  constructor(private accountLimits: QuotaLimits) {
    this.accountWindows = windowsOf(accountLimits);
  }

  get windows(): readonly AccountWindow[] {
    return this.accountWindows;
  }

  /** Sets other limits. Their windows begin empty; calls in flight stay so. */
  limit(limits: QuotaLimits): void {
    this.accountLimits = limits;
    this.accountWindows = windowsOf(limits);
  }

  /** Lets a request in, or says why not: of several reasons the one that lasts longest. */
  admit(now: number, demand: Demand): Verdict {
    this.advance(now);
    const estimate = this.estimate(demand);
    const refusal = longestOf([...this.refusals(estimate)]);
    if (refusal !== undefined) {
      this.books.refuse(refusal.kind);
      return { refusal };
    }
    this.books.admit();
    for (const { requests } of this.accountWindows) requests.admit(now, 1);
    return { call: { charges: this.accountWindows.map(({ tokens }) => [tokens, tokens.admit(now, estimate)]) } };
  }

  /** Once per call that was let in, at its end. */
  settle({ charges }: OpenCall, now: number, end: CallEnd): void {
    this.books.settle(end);
    const { promptTokens = 0, completionTokens = 0 } = end.bill ?? {};
    for (const [tokens, charge] of charges) tokens.settle(charge, now, promptTokens + completionTokens);
  }

  /** Lets go of what is older than a window. */
  advance(now: number): void {
    for (const { requests, tokens } of this.accountWindows) {
      requests.advance(now);
      tokens.advance(now);
    }
  }

  /** True: nothing runs, and nothing lies on any window. As of the last {@link advance}. */
  get isIdle(): boolean {
    const { books, accountWindows } = this;
    return books.inFlight === 0 && accountWindows.every(({ requests, tokens }) => requests.used + tokens.used === 0);
  }

  /** Opens new books. What lies on the windows and what runs stays. */
  resetBooks(): void {
    this.books.reset();
    for (const { requests, tokens } of this.accountWindows) {
      requests.resetMost();
      tokens.resetMost();
    }
  }

  /** For GET /stats. As of the last {@link advance}. */
  toJson(): object {
    const { concurrency, tokenRule } = this.accountLimits;
    const windows = this.accountWindows.map(({ limit, requests, tokens }) => ({
      windowMs: limit.windowMs,
      requests: { limit: limit.requests, used: requests.used, most: requests.most },
      tokens: { limit: limit.tokens, used: tokens.used, most: tokens.most },
    }));
    return { ...this.books.toJson(), concurrency, tokenRule, windows };
  }

  /** Prompt and output asked for. Output that is only assumed never makes a request too large. */
  private estimate({ promptTokens, outputTokens }: Demand): number {
    if (outputTokens !== undefined) return promptTokens + outputTokens;
    const smallest = Math.min(...this.accountWindows.map(({ limit }) => limit.tokens ?? Number.POSITIVE_INFINITY));
    return Math.max(promptTokens, Math.min(promptTokens + this.accountLimits.assumedOutputTokens, smallest));
  }

  private *refusals(estimate: number): Generator<QuotaRefusal> {
    const { concurrency, tokenRule } = this.accountLimits;
    // A provider that counts at completion knows no estimate: it lets in until the limit has been used.
    const tokensRequested = tokenRule === 'cmp' ? 1 : estimate;
    for (const { limit: window, requests, tokens } of this.accountWindows) {
      const { requests: mostRequests, tokens: mostTokens } = window;
      if (mostRequests !== undefined && requests.used >= mostRequests) {
        yield { kind: 'requests', window, ...figures(requests, mostRequests, 1) };
      }
      if (mostTokens !== undefined && tokens.used + tokensRequested > mostTokens) {
        yield { kind: 'tokens', window, ...figures(tokens, mostTokens, tokensRequested) };
      }
    }
    const used = this.books.inFlight;
    if (concurrency !== undefined && used >= concurrency) {
      const slots = { window: undefined, limit: concurrency, used, requested: 1, waitMs: UNKNOWN_WAIT_MS };
      yield { kind: 'concurrency', ...slots };
    }
  }
}

function figures(load: SlidingLoad, limit: number, requested: number): Omit<QuotaRefusal, 'kind' | 'window'> {
  const waitMs = requested > limit ? undefined : (load.waitMs(limit - requested) ?? UNKNOWN_WAIT_MS);
  return { limit, used: load.used, requested, waitMs };
}

function windowsOf({ windows, tokenRule }: QuotaLimits): readonly AccountWindow[] {
  return windows.map((limit) => ({
    limit,
    // A request is one from its arrival on, whatever becomes of it.
    requests: new SlidingLoad(limit.windowMs, 'adm'),
    tokens: new SlidingLoad(limit.windowMs, tokenRule),
  }));
}
