import { formatDuration, parseDuration } from '../../config/index.js';

export const TOKEN_RULES = ['adm', 'cmp', 'safe'] as const;

/** How a provider counts tokens: prompt and `max_tokens` at admission, what was used at completion, or the larger of both; see sliding.load.ts. */
export type TokenRule = (typeof TOKEN_RULES)[number];

/** One sliding window. Without a number it is only measured. */
export interface WindowLimit {
  readonly windowMs: number;
  readonly requests?: number;
  readonly tokens?: number;
}

/** What a provider allows each key of one model. A request must fit every window. */
export interface QuotaLimits {
  /** What {@link parseLimits} was given. */
  readonly text: string;
  /** At least one, each of another length. */
  readonly windows: readonly WindowLimit[];
  /** Calls at one time; undefined: any number. */
  readonly concurrency: number | undefined;
  readonly tokenRule: TokenRule;
  /** Tokens that count as asked for where a request has no `max_tokens`. */
  readonly assumedOutputTokens: number;
}

type OtherLimits = Omit<QuotaLimits, 'text' | 'windows'>;

const MINUTE_MS = 60_000;
const ASSUMED_OUTPUT_TOKENS = 1_024;
const LARGEST = 1_000_000_000_000;
const TERMS =
  'rpm=60, tpm=90000, requests=10/1s, tokens=5000/2s, window=10s, concurrency=5, rule=adm|cmp|safe, output=1024';

/**
 * Limits from text such as `rpm=60,tpm=90000,requests=10/1s,concurrency=5,rule=safe`. `rpm=60` is `requests=60/1m`; `window=10s` is measured only.
 * Empty: no limits, measured by the minute.
 * @throws RangeError naming the fault and what is known.
 */
export function parseLimits(text: string): QuotaLimits {
  const windows = new Map<number, WindowLimit>();
  let others: OtherLimits = { concurrency: undefined, tokenRule: 'adm', assumedOutputTokens: ASSUMED_OUTPUT_TOKENS };
  const seen = new Set<string>();
  for (const term of text.trim() === '' ? [] : text.split(',')) {
    const [name, value] = split(term.trim());
    const window = windowOf(name, value);
    const place = window === undefined ? name : Object.keys(window).concat(String(window.windowMs)).join(' ');
    if (seen.has(place)) throw new RangeError(`'${term.trim()}' is the second of its kind`);
    seen.add(place);
    if (window === undefined) others = { ...others, ...otherOf(name, value) };
    else windows.set(window.windowMs, { ...windows.get(window.windowMs), ...window });
  }
  return { text, ...others, windows: windows.size === 0 ? [{ windowMs: MINUTE_MS }] : [...windows.values()] };
}

function split(term: string): readonly [name: string, value: string] {
  const at = term.indexOf('=');
  if (at < 1) throw new RangeError(`'${term}' is no limit; known are ${TERMS}`);
  return [term.slice(0, at).trim(), term.slice(at + 1).trim()];
}

function windowOf(name: string, value: string): WindowLimit | undefined {
  switch (name) {
    case 'rpm':
      return { windowMs: MINUTE_MS, requests: count(name, value) };
    case 'tpm':
      return { windowMs: MINUTE_MS, tokens: count(name, value) };
    case 'requests':
    case 'tokens': {
      const [amount = '', duration = '', ...more] = value.split('/');
      if (more.length > 0) throw new RangeError(`${name} must be a number and a window such as 10/1s, got '${value}'`);
      return { windowMs: windowMs(name, duration), [name]: count(name, amount) };
    }
    case 'window':
      return { windowMs: windowMs(name, value) };
    default:
      return undefined;
  }
}

function otherOf(name: string, value: string): Partial<OtherLimits> {
  switch (name) {
    case 'concurrency':
      return { concurrency: count(name, value) };
    case 'output':
      return { assumedOutputTokens: count(name, value) };
    case 'rule': {
      const tokenRule = TOKEN_RULES.find((rule) => rule === value);
      if (tokenRule === undefined)
        throw new RangeError(`rule must be one of ${TOKEN_RULES.join(', ')}, got '${value}'`);
      return { tokenRule };
    }
    default:
      throw new RangeError(`'${name}' is no limit; known are ${TERMS}`);
  }
}

function count(name: string, text: string): number {
  const number = /^\d{1,13}$/.test(text) ? Number(text) : 0;
  if (number < 1 || number > LARGEST) throw new RangeError(`${name} must be a whole number from 1, got '${text}'`);
  return number;
}

function windowMs(name: string, text: string): number {
  try {
    return parseDuration(text, 1);
  } catch (error) {
    throw new RangeError(`${name}: the window ${error instanceof Error ? error.message : ''}, got '${text}'`, {
      cause: error,
    });
  }
}

/** A window in OpenAI's words: `per min`, or `per 2s`. */
export function windowName({ windowMs }: WindowLimit): string {
  return windowMs === MINUTE_MS ? 'per min' : `per ${formatDuration(windowMs)}`;
}
