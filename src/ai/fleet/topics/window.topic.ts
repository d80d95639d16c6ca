import { FLEET_LIMITS as LIMITS } from '../fleet.limits.js';
import type { Topic } from '../fleet.store.js';
import { fieldsOf, oneOf, wholeNumber } from './fields.js';

export const WINDOW_UNITS = ['requests', 'tokens', 'input-tokens', 'output-tokens'] as const;
/** What a provider's rate limit counts. */
export type WindowUnit = (typeof WINDOW_UNITS)[number];

/** What a provider last said of one of its rate limits. */
export interface RateWindow {
  /** 0: not told. */
  readonly limit: number;
  readonly remaining: number;
  /** When it will be full again. */
  readonly resetAt: number;
  readonly saidAt: number;
}

/** A deployment's rate limits. */
export type RateWindows = Readonly<Partial<Record<WindowUnit, RateWindow>>>;

export interface WindowChange {
  readonly unit: WindowUnit;
  readonly limit: number;
  readonly remaining: number;
  readonly resetInMs: number;
}

/**
 * Rate limits as the headers of answers tell them. Answers overtake each other, so of one moment the smallest remainder of the
 * newest window counts; what is said later counts in place of what was said before, since buckets fill up again without a reset.
 */
export const windowTopic: Topic<RateWindows, WindowChange> = {
  name: 'window',
  mostPending: WINDOW_UNITS.length,

  apply(body, { unit, limit, remaining, resetInMs }, at) {
    const said: RateWindow = { limit, remaining, resetAt: at + resetInMs, saidAt: at };
    const known = body?.[unit];
    return known !== undefined && !replaces(known, said) ? body : { ...body, [unit]: said };
  },

  endOf: (body) => Math.max(...WINDOW_UNITS.map((unit) => endOfWindow(body[unit]))),
  isNews: () => false,
  merge(older, newer) {
    if (older.unit !== newer.unit) return undefined;
    const isSame = Math.abs(older.resetInMs - newer.resetInMs) <= LIMITS.momentMs;
    return isSame ? { ...newer, remaining: Math.min(older.remaining, newer.remaining) } : newer;
  },

  format: (body) =>
    WINDOW_UNITS.flatMap((unit) => {
      const window = body[unit];
      return window === undefined
        ? []
        : [[unit, window.limit, window.remaining, window.resetAt, window.saidAt].join('|')];
    }).join(','),

  parse(text) {
    const windows: Partial<Record<WindowUnit, RateWindow>> = {};
    for (const part of text.split(',')) {
      const [unit, limit, remaining, resetAt, saidAt] = fieldsOf(part, 5);
      windows[oneOf(WINDOW_UNITS, unit)] = {
        limit: wholeNumber(limit),
        remaining: wholeNumber(remaining),
        resetAt: wholeNumber(resetAt),
        saidAt: wholeNumber(saidAt),
      };
    }
    return windows;
  },

  encode: ({ unit, limit, remaining, resetInMs }) => [unit, limit, remaining, resetInMs].join('|'),
};

/** Its limit is believed for longer than its remainder. */
function endOfWindow(window: RateWindow | undefined): number {
  return window === undefined ? 0 : Math.max(window.resetAt, window.saidAt + LIMITS.toldMs);
}

function replaces(known: RateWindow, said: RateWindow): boolean {
  if (said.saidAt >= known.resetAt || said.saidAt >= known.saidAt + LIMITS.momentMs) return true;
  if (said.saidAt <= known.saidAt - LIMITS.momentMs) return false;
  if (Math.abs(said.resetAt - known.resetAt) > LIMITS.momentMs) return said.resetAt > known.resetAt;
  return said.remaining < known.remaining;
}
