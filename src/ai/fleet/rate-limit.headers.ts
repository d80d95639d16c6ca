import type { UpstreamHeaders } from '../upstream/retry-after.js';
import type { WindowUnit } from './topics/window.topic.js';

/** One rate limit, as the headers of an answer tell it. */
export interface ToldRateLimit {
  readonly unit: WindowUnit;
  readonly limit?: number;
  readonly remaining: number;
  /** When it is full again, Unix ms by our clock; in the past where the provider says that it is full. */
  readonly resetAt: number;
}

/** The header names of one limit. */
interface Family {
  readonly unit: WindowUnit;
  readonly limit: string;
  readonly remaining: string;
  readonly reset: string;
}

const FAMILIES: readonly Family[] = [
  familyOf('x-ratelimit-{}-requests', 'requests'),
  familyOf('x-ratelimit-{}-tokens', 'tokens'),
  familyOf('anthropic-ratelimit-requests-{}', 'requests'),
  familyOf('anthropic-ratelimit-tokens-{}', 'tokens'),
  familyOf('anthropic-ratelimit-input-tokens-{}', 'input-tokens'),
  familyOf('anthropic-ratelimit-output-tokens-{}', 'output-tokens'),
];
const UNIT_MS: Readonly<Partial<Record<string, number>>> = {
  d: 86_400_000,
  h: 3_600_000,
  m: 60_000,
  s: 1_000,
  ms: 1,
  us: 0.001,
  µs: 0.001,
  ns: 0.000_001,
};
const DURATION = /^(?:\d+(?:\.\d+)?(?:d|h|ms|m|s|us|µs|ns))+$/;
const PART = /(\d+(?:\.\d+)?)(d|h|ms|m|s|us|µs|ns)/gy;
const PLAIN = /^\d+(?:\.\d+)?$/;
const TIMESTAMP = /^\d{4}-\d{2}-\d{2}T/;
/** No limit is longer than a month; what says more is a mistake, or not what we take it for. */
const LONGEST_MS = 31 * 86_400_000;
/** From here on a plain number is an instant, not a duration: Unix seconds, and Unix milliseconds. */
const INSTANT_S = 1_000_000_000;
const INSTANT_MS = 100_000_000_000;

/**
 * What a provider says that is left of its rate limits: OpenAI's `x-ratelimit-*` (Azure, DeepSeek and most compatible servers too),
 * with resets as durations (`6ms`, `1m12s`) or seconds, and Anthropic's `anthropic-ratelimit-*`, with resets as RFC 3339 instants,
 * which are by the provider's clock and brought to ours by the answer's `date`. A limit whose remainder or reset is missing or makes
 * no sense is left out.
 *
 * @param now - Unix ms, when the answer was received
 */
export function parseRateLimits(headers: UpstreamHeaders, now: number): readonly ToldRateLimit[] {
  const told: ToldRateLimit[] = [];
  for (const names of FAMILIES) {
    const remaining = count(single(headers[names.remaining]));
    const reset = single(headers[names.reset]);
    if (remaining === undefined || reset === undefined) continue;
    const resetAt = resetInstant(reset, now, headers['date']);
    if (resetAt === undefined || resetAt > now + LONGEST_MS) continue;
    const limit = count(single(headers[names.limit]));
    told.push({ unit: names.unit, remaining, resetAt, ...(limit !== undefined && { limit }) });
  }
  return told;
}

/** @param name - `{}` stands for limit, remaining or reset */
function familyOf(name: string, unit: WindowUnit): Family {
  const named = (part: string): string => name.replace('{}', part);
  return { unit, limit: named('limit'), remaining: named('remaining'), reset: named('reset') };
}

/** A duration as Go writes it (`1m12s`, `6ms`, `1.5s`), ms; undefined for anything else. */
export function durationMs(text: string): number | undefined {
  if (!DURATION.test(text)) return undefined;
  let total = 0;
  for (const [, amount, unit] of text.matchAll(PART)) total += Number(amount) * (UNIT_MS[unit ?? ''] ?? Number.NaN);
  return Number.isFinite(total) ? Math.ceil(total) : undefined;
}

function resetInstant(text: string, now: number, date: string | string[] | undefined): number | undefined {
  if (PLAIN.test(text)) {
    const number = Number(text);
    if (number >= INSTANT_MS) return Math.ceil(number);
    return number >= INSTANT_S ? Math.ceil(number * 1_000) : now + Math.ceil(number * 1_000);
  }
  const duration = durationMs(text);
  if (duration !== undefined) return now + duration;
  const at = TIMESTAMP.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(at) ? undefined : at + clockLead(date, now);
}

/** By how much our clock is ahead of the provider's, ms. A date has whole seconds: a lead of less than two is none. */
function clockLead(date: string | string[] | undefined, now: number): number {
  const sentAt = Date.parse(single(date) ?? '');
  return Number.isNaN(sentAt) || Math.abs(now - sentAt) < 2_000 ? 0 : now - sentAt;
}

function count(text: string | undefined): number | undefined {
  if (text === undefined || !/^\d{1,15}$/.test(text)) return undefined;
  return Number(text);
}

function single(value: string | string[] | undefined): string | undefined {
  return (Array.isArray(value) ? value[0] : value)?.trim();
}
