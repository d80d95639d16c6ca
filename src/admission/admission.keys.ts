import { escapeName } from '../store/index.js';
import type { ScopeRules, WindowRule } from './admission.rules.js';
import type { Scope } from './admission.store.js';

/** What an id or the name of a process may be: it stands in keys and messages as it is. */
const PLAIN = /^[\w.-]{1,64}$/;

/** The keys of a scope in the order of the scripts. They share one hash tag, and that with the scopes of the same slot. */
export function scopeKeys(prefix: string, { name, slot, rules: { windows } }: Scope): readonly string[] {
  const own = escapeName(name);
  const tag = slot === undefined || slot === name ? `{${own}}` : `{${escapeName(slot)}}:${own}`;
  const parts = ['s', 'b', 'v', 'l', 'q', 'a', 'f', 'h', 'g', ...windows.map((window) => `c:${windowName(window)}`)];
  return parts.map((part) => `${prefix}ad:${tag}:${part}`);
}

/** A calendar of another layout is another calendar. */
export function windowName({ windowMs, spanMs, bucketMs }: WindowRule): string {
  return `${windowMs}/${spanMs}/${bucketMs}`;
}

/** Before the name of a process; together its channel. */
export function channelPrefix(prefix: string): string {
  return `${prefix}ad:`;
}

/** The rules as one argument of the scripts; see acquire.lua. */
export function rulesText({ tokenRule, concurrency, lookAheadMs, windows, budgets }: ScopeRules): string {
  const windowsText = windows.map(
    (window) => `${windowName(window)},${window.burstMs},${window.requests ?? ''},${window.tokens ?? ''};`,
  );
  const budgetsText = budgets.map(({ unit, period, limit }) => `${unit},${period},${limit};`);
  return [tokenRule, concurrency ?? '', lookAheadMs, windowsText.join(''), budgetsText.join('')].join('|');
}

/** @throws RangeError where the text is not one that may stand in keys and messages as it is */
export function plainName(what: string, name: string): string {
  if (PLAIN.test(name)) return name;
  throw new RangeError(`${what} must be 1 to 64 letters, digits, "-", "_" or ".", not ${JSON.stringify(name)}`);
}
