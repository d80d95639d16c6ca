/**
 * How a provider counts tokens against a window:
 * - `safe`: right for every provider: the estimate from admission until the call has ended and its window is over, then the actual
 *   number until a window after its end;
 * - `adm`: the estimate at admission, for one window;
 * - `cmp`: the actual number at the end of the call, for one window;
 * - `own`: for our own limits: the estimate at admission, corrected to the actual number at the end.
 */
export type TokenRule = 'safe' | 'adm' | 'cmp' | 'own';

export type BudgetUnit = 'usd' | 'tokens';

/** Calendar days and months of UTC, by the store's clock. */
export type BudgetPeriod = 'day' | 'month';

/** What may be spent in a period: micro-dollars (integers) or tokens. */
export interface BudgetRule {
  readonly unit: BudgetUnit;
  readonly period: BudgetPeriod;
  readonly limit: number;
}

/** A sliding window: at no time may more than this lie within the last `windowMs`. */
export interface WindowLimit {
  readonly windowMs: number;
  /** Undefined: any number. */
  readonly requests?: number | undefined;
  /** Undefined: any number. */
  readonly tokens?: number | undefined;
  /** How late after its grant a call may arrive at the upstream, ms; 300 by default. It costs as much of each window. */
  readonly guardMs?: number | undefined;
  /**
   * How much of the limit may be let in at once after a quiet time, over 0 to 1; what is above it is let in evenly, so that somebody
   * who comes later still finds room. 1, the default, for no such pace.
   */
  readonly burst?: number | undefined;
}

/** What a scope (a deployment, a model, a caller) may use; what is left out is not limited. */
export interface ScopeLimits {
  readonly windows?: readonly WindowLimit[] | undefined;
  /** `safe` by default. */
  readonly tokenRule?: TokenRule | undefined;
  /** Calls at a time. */
  readonly concurrency?: number | undefined;
  readonly budgets?: readonly BudgetRule[] | undefined;
  /** How long before its time a grant is handed out, ms, so that its message costs no capacity; 200 by default, at most a tenth of a window. */
  readonly lookAheadMs?: number | undefined;
}

export interface WindowRule {
  readonly windowMs: number;
  readonly requests: number | undefined;
  readonly tokens: number | undefined;
  readonly guardMs: number;
  /** How long a quiet time is made up for at once, ms. */
  readonly burstMs: number;
  /** How long a charge is kept: window and guard. */
  readonly spanMs: number;
  /** Charges are released at multiples of this, rounded up. */
  readonly bucketMs: number;
}

/** ScopeLimits, checked and with the defaults filled in. */
export interface ScopeRules {
  readonly windows: readonly WindowRule[];
  readonly tokenRule: TokenRule;
  readonly concurrency: number | undefined;
  readonly budgets: readonly BudgetRule[];
  readonly lookAheadMs: number;
}

/** Limits that no store can keep. */
export class AdmissionRulesError extends RangeError {
  override readonly name = 'AdmissionRulesError';
}

const GUARD_MS = 300;
const LOOK_AHEAD_MS = 200;
const SHORTEST_WINDOW_MS = 100;
const LONGEST_WINDOW_MS = 86_400_000;
/** A calendar holds 32-bit numbers; a sum of a few of these fits. */
const MOST_IN_WINDOW = 1_000_000_000;

/** So many buckets of the future a calendar can tell apart; see memory/calendar.ts. */
export const CALENDAR_BUCKETS = 620;

/** @throws AdmissionRulesError where a number is none, or out of its bounds */
export function scopeRules(limits: ScopeLimits): ScopeRules {
  const { windows = [], budgets = [], tokenRule = 'safe', concurrency } = limits;
  if (concurrency !== undefined) whole('concurrency', concurrency, [1, MOST_IN_WINDOW]);
  for (const { unit, period, limit } of budgets) {
    whole(`the budget in ${unit} by the ${period}`, limit, [0, Number.MAX_SAFE_INTEGER]);
  }
  unique(
    'window',
    windows.map(({ windowMs }) => String(windowMs)),
  );
  unique(
    'budget',
    budgets.map(({ unit, period }) => `${unit} by the ${period}`),
  );
  const shortest = Math.min(...windows.map(({ windowMs }) => windowMs));
  const lookAheadMs = Math.min(limits.lookAheadMs ?? LOOK_AHEAD_MS, Math.floor(shortest / 10));
  return Object.freeze({
    windows: Object.freeze(windows.map((limit) => windowRule(limit, lookAheadMs))),
    tokenRule,
    concurrency,
    budgets: Object.freeze(budgets.map((budget) => Object.freeze({ ...budget }))),
    lookAheadMs: whole('lookAheadMs', lookAheadMs, [0, LONGEST_WINDOW_MS]),
  });
}

/** Nothing to ask the store for: such a scope needs no command at all. */
export function isUnlimited({ windows, concurrency, budgets }: ScopeRules): boolean {
  return (
    concurrency === undefined &&
    budgets.length === 0 &&
    windows.every(({ requests, tokens }) => requests === undefined && tokens === undefined)
  );
}

/**
 * How long after its grant a call may still be sent, ms: half of the guard, so that the other half is left for its way to the
 * upstream. What is later must be cancelled and acquired again.
 */
export function sendWithinMs({ windows }: ScopeRules): number {
  return Math.floor(Math.min(...windows.map(({ guardMs }) => guardMs)) / 2);
}

function windowRule(limit: WindowLimit, lookAheadMs: number): WindowRule {
  const { requests, tokens, guardMs = GUARD_MS, burst = 1 } = limit;
  const windowMs = whole('windowMs', limit.windowMs, [SHORTEST_WINDOW_MS, LONGEST_WINDOW_MS]);
  if (requests !== undefined) whole('requests', requests, [1, MOST_IN_WINDOW]);
  if (tokens !== undefined) whole('tokens', tokens, [1, MOST_IN_WINDOW]);
  if (!(burst > 0 && burst <= 1)) throw new AdmissionRulesError(`burst must be over 0 and at most 1, not ${burst}`);
  const spanMs = windowMs + whole('guardMs', guardMs, [0, LONGEST_WINDOW_MS]);
  return Object.freeze({
    windowMs,
    requests,
    tokens,
    guardMs,
    burstMs: Math.round(burst * windowMs),
    spanMs,
    bucketMs: Math.ceil((spanMs + lookAheadMs) / CALENDAR_BUCKETS),
  });
}

function whole(name: string, value: number, [least, most]: readonly [number, number]): number {
  if (Number.isSafeInteger(value) && value >= least && value <= most) return value;
  throw new AdmissionRulesError(`${name} must be a whole number from ${least} to ${most}, not ${value}`);
}

function unique(what: string, names: readonly string[]): void {
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw new AdmissionRulesError(`there are two rules for the same ${what}: ${twice}`);
}
