import { LockOptionsError } from './lock.errors.js';

/**
 * exclusive: one holder · shared: any number, but none beside an exclusive one · permits: at most n holders. One key may be asked
 * for in different modes: an exclusive holder is always alone, and of two numbers of permits the smaller counts.
 */
export type LockMode = 'exclusive' | 'shared' | { readonly permits: number };

export interface LockOptions {
  /** Default: exclusive. */
  readonly mode?: LockMode;
  /**
   * How long the lock stays ours without a word to the store; renewed every third of it while it is held. What a killed process
   * blocks the others for, ms. Default 30 000; 100 to 86 400 000.
   */
  readonly leaseMs?: number;
  /** How long to wait for it, for all keys together, ms. 0: fail at once. Default 10 000; to 86 400 000. */
  readonly waitMs?: number;
  /** Ends the wait with its reason. What is held stays held. */
  readonly signal?: AbortSignal;
  /** Lost at the latest so long after the grant, ms: nobody waits for ever for a job that hangs. Default: no limit. */
  readonly maxHoldMs?: number;
  /** Stays taken at least so long, also when the work is done before (a cron job whose clocks differ), ms. Default 0. */
  readonly minHoldMs?: number;
  /** What operators and those who wait see of the holder; no secrets. Cut at 200 characters. Default: empty. */
  readonly description?: string;
  /**
   * The name of this kind of lock in metrics, e.g. `order:*`; never made of user data. Default: `*`; under a decorator
   * `Class.method`.
   */
  readonly template?: string;
}

export type ResolvedLockOptions = Required<Omit<LockOptions, 'signal' | 'template'>> &
  Pick<LockOptions, 'signal' | 'template'>;

const DEFAULT_LOCK_OPTIONS = {
  mode: 'exclusive',
  leaseMs: 30_000,
  waitMs: 10_000,
  maxHoldMs: Infinity,
  minHoldMs: 0,
  description: '',
} as const satisfies LockOptions;

const DAY_MS = 86_400_000;
const MAX_KEY_LENGTH = 512;

/** More than anybody shares a lock with; an exclusive holder takes all of it, a shared one 1. */
const WHOLE = 1_000_000;

/** @throws LockOptionsError that names the option, its value and its bounds */
export function resolveLockOptions(options: LockOptions, defaults: Partial<LockOptions> = {}): ResolvedLockOptions {
  checkOptionsObject('lock options', options);
  checkOptionsObject('the defaults of locks', defaults);
  const resolved = Object.assign({}, DEFAULT_LOCK_OPTIONS, given(defaults), given(options));
  checkDuration('leaseMs', resolved.leaseMs, { from: 100, to: DAY_MS });
  checkDuration('waitMs', resolved.waitMs, { from: 0, to: DAY_MS });
  checkDuration('minHoldMs', resolved.minHoldMs, { from: 0, to: DAY_MS });
  if (resolved.maxHoldMs !== Infinity) checkDuration('maxHoldMs', resolved.maxHoldMs, { from: 1, to: DAY_MS });
  if (resolved.minHoldMs > resolved.maxHoldMs) {
    throw new LockOptionsError(`minHoldMs (${resolved.minHoldMs}) must not be above maxHoldMs (${resolved.maxHoldMs})`);
  }
  checkMode(resolved.mode);
  checkText('description', resolved.description);
  if (resolved.template !== undefined) checkText('template', resolved.template);
  checkSignal(resolved.signal);
  return { ...resolved, leaseMs: Math.ceil(resolved.leaseMs), minHoldMs: Math.ceil(resolved.minHoldMs) };
}

/** @throws LockOptionsError for an extension that is no duration */
export function checkExtension(leaseMs: number): void {
  checkDuration('ms', leaseMs, { from: 1, to: DAY_MS });
}

/** @throws LockOptionsError for a grace that is no duration */
export function checkGrace(graceMs: number): void {
  checkDuration('graceMs', graceMs, { from: 0, to: DAY_MS });
}

/** @throws LockOptionsError for what callers without types may give in place of options */
export function checkOptionsObject(what: string, options: unknown): void {
  if (typeof options === 'object' && options !== null && !Array.isArray(options)) return;
  throw new LockOptionsError(`${what} must be an object, not ${kindOf(options)}`);
}

/** Whether somebody who holds it in one mode may take it in the other as well without waiting for the others who hold it. */
export function covers(held: LockMode, wanted: LockMode): boolean {
  if (held === 'exclusive') return true;
  if (typeof held === 'object' && typeof wanted === 'object') return wanted.permits >= held.permits;
  return held === wanted;
}

/** As it is said of a mode in a message. */
export function nameOfMode(mode: LockMode): string {
  return typeof mode === 'string' ? mode : `permits: ${mode.permits}`;
}

/** How much of which capacity a mode takes; the same for every key, so that modes may meet on one. */
export function shareOf(mode: LockMode): { readonly weight: number; readonly capacity: number } {
  if (mode === 'exclusive') return { weight: WHOLE, capacity: WHOLE };
  if (mode === 'shared') return { weight: 1, capacity: WHOLE };
  return { weight: 1, capacity: mode.permits };
}

/**
 * Sorted and without repetition, so that nobody takes two locks in two orders.
 * @throws LockOptionsError for no key, an empty one, or one made of a missing value
 */
export function resolveLockKeys(keys: string | readonly string[]): readonly [string, ...string[]] {
  const given: readonly unknown[] = Array.isArray(keys) ? keys : [keys];
  const checked = given.map((key) => {
    checkLockKey(key);
    return key;
  });
  const [first, ...rest] = [...new Set(checked)].sort();
  if (first === undefined) throw new LockOptionsError('at least one lock key is needed');
  return [first, ...rest];
}

/** @throws LockOptionsError */
function checkLockKey(key: unknown): asserts key is string {
  if (typeof key !== 'string') throw new LockOptionsError(`a lock key must be a string, not ${kindOf(key)}`);
  if (key.trim() === '') throw new LockOptionsError('a lock key must not be empty');
  if (key.length > MAX_KEY_LENGTH) {
    throw new LockOptionsError(`a lock key must have at most ${MAX_KEY_LENGTH} characters; this one has ${key.length}`);
  }
  const missing = ENDS_IN_COLON.test(key) ? '' : key.split(SEPARATOR).find((part) => MISSING.has(part));
  if (missing !== undefined) {
    throw new LockOptionsError(`lock key "${key}" has a part "${missing}": a value that it is made of is missing`);
  }
}

/** What joins the parts of a key; a part that has such a word in it (`null_island`, `a-null-b`) is a name like any other. */
const SEPARATOR = /[\s:/|,]+/;
const MISSING: ReadonlySet<string> = new Set(['undefined', 'null', 'NaN']);
/** One colon and nothing: `order:`. Two belong to an address (`fe80::`). */
const ENDS_IN_COLON = /(?:^|[^:]):$/;

function given(options: {
  readonly [Name in keyof LockOptions]?: LockOptions[Name] | undefined;
}): Partial<LockOptions> {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
}

function checkDuration(name: string, value: number, { from, to }: { from: number; to: number }): void {
  if (Number.isFinite(value) && value >= from && value <= to) return;
  throw new LockOptionsError(`${name} must be a number of milliseconds from ${from} to ${to}, not ${String(value)}`);
}

function checkMode(mode: unknown): void {
  if (mode === 'exclusive' || mode === 'shared') return;
  if (typeof mode !== 'object' || mode === null || !('permits' in mode)) {
    throw new LockOptionsError(`mode must be 'exclusive', 'shared' or { permits: n }, not ${kindOf(mode)}`);
  }
  const { permits } = mode;
  if (typeof permits !== 'number') {
    throw new LockOptionsError(`permits must be a whole number from 1 to ${WHOLE}, not ${kindOf(permits)}`);
  }
  if (Number.isInteger(permits) && permits >= 1 && permits <= WHOLE) return;
  throw new LockOptionsError(`permits must be a whole number from 1 to ${WHOLE}, not ${String(permits)}`);
}

function checkText(name: string, text: unknown): void {
  if (typeof text !== 'string') throw new LockOptionsError(`${name} must be a string, not ${kindOf(text)}`);
}

function checkSignal(signal: unknown): void {
  if (signal === undefined || signal instanceof AbortSignal) return;
  throw new LockOptionsError(`signal must be an AbortSignal, not ${kindOf(signal)}`);
}

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  return typeof value === 'string' ? JSON.stringify(value) : typeof value;
}
