import { windowName } from '../admission.keys.js';
import type { ScopeRules } from '../admission.rules.js';
import type { WindowUsage } from '../admission.store.js';
import type { KeptScope } from './scope.table.js';
import { Window } from './window.js';

export interface Expectation {
  readonly at: number;
  /** What says so, as the scripts name it. */
  readonly rule: string;
  readonly isExact: boolean;
}

/** What room a scope has, by its windows and slots, at one time. */
export class ScopeRoom {
  readonly windows: readonly Window[];
  readonly slots: number;
  readonly lookAheadMs: number;

  /** @param isLost the scope was in use before, whatever is known of it */
  constructor(
    rules: ScopeRules,
    private readonly kept: KeptScope,
    isLost: boolean,
  ) {
    this.slots = rules.concurrency ?? Infinity;
    this.lookAheadMs = rules.lookAheadMs;
    this.windows = rules.windows.map((rule) => {
      const name = windowName(rule);
      const window = kept.windows.get(name) ?? new Window(rule, kept.time, isLost);
      window.open(rule, kept.time);
      kept.windows.set(name, window);
      return window;
    });
  }

  /** So long ago a process let in what is not counted here. */
  pace(agoMs: number): void {
    for (const window of this.windows) window.pace(agoMs);
  }

  get usage(): readonly WindowUsage[] {
    return this.windows.map(({ usage }) => usage);
  }

  get hasSlot(): boolean {
    return this.kept.open < this.slots;
  }

  /** When a call has room in all windows, if that is within the look-ahead. */
  soon(tokens: number): number | undefined {
    const { time, lastAt, heldUntil } = this.kept;
    const until = time + this.lookAheadMs;
    let at = Math.max(time, lastAt, heldUntil);
    for (const window of this.windows) {
      const found = window.soon(tokens, until);
      if (found === undefined) return undefined;
      at = Math.max(at, found);
    }
    return at <= until ? at : undefined;
  }

  /** When a call of so many tokens has room in all windows behind so many calls and tokens. */
  roomAt(tokens: number, callsBefore: number, tokensBefore: number): Expectation {
    let best: Expectation = { at: Math.max(this.kept.time, this.kept.lastAt), rule: 'hold', isExact: true };
    const later = (at: number, rule: string, isExact: boolean): void => {
      if (at > best.at) best = { at, rule, isExact };
    };
    later(this.kept.heldUntil, 'hold', true);
    for (const window of this.windows) {
      const { requestsAt, tokensAt, isExact } = window.roomAt(tokens, callsBefore, tokensBefore);
      later(requestsAt, `requests:${window.windowMs}`, true);
      later(tokensAt, `tokens:${window.windowMs}`, isExact);
    }
    return best;
  }

  /** The share of what is scarcest that so many calls take, as a time. */
  costOf(calls: number, tokens: number, durationMs: number): number {
    return Math.max(durationMs / this.slots, ...this.windows.map((window) => window.costOf(calls, tokens)));
  }

  /** What calls of that mean duration are expected to take of the slots. */
  expected(meanMs: number): number {
    if (this.slots === Infinity) return 0;
    return meanMs > 0 ? meanMs : this.kept.meanMs;
  }
}
