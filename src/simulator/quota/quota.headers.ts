import type { AccountWindow } from './quota.account.js';

export type RateLimitHeaders = Readonly<Record<string, string>>;

interface Rate {
  readonly limit: number;
  readonly remaining: number;
  readonly restoreMs: number;
}

/** Said of what has no limit, and the same every time: nothing is enforced there. More than anybody allows himself: clients believe it. */
const UNLIMITED: Readonly<Record<'requests' | 'tokens', Rate>> = {
  requests: { limit: 1_000_000_000, remaining: 999_999_999, restoreMs: 6 },
  tokens: { limit: 1_000_000_000, remaining: 1_000_000_000, restoreMs: 0 },
};

/** OpenAI's `x-ratelimit-*`: of several windows the one with the least left; reset is the time until all of it is back. */
export function rateLimitHeaders(windows: readonly AccountWindow[]): RateLimitHeaders {
  return { ...headersOf('requests', windows), ...headersOf('tokens', windows) };
}

function headersOf(kind: 'requests' | 'tokens', windows: readonly AccountWindow[]): RateLimitHeaders {
  const { limit, remaining, restoreMs } = tightest(kind, windows) ?? UNLIMITED[kind];
  return {
    [`x-ratelimit-limit-${kind}`]: String(limit),
    [`x-ratelimit-remaining-${kind}`]: String(Math.max(0, remaining)),
    [`x-ratelimit-reset-${kind}`]: durationText(restoreMs),
  };
}

function tightest(kind: 'requests' | 'tokens', windows: readonly AccountWindow[]): Rate | undefined {
  const rates = windows.flatMap(({ limit: { [kind]: limit }, [kind]: load }) =>
    limit === undefined ? [] : [{ limit, remaining: limit - load.used, restoreMs: load.restoreMs }],
  );
  return rates.toSorted((one, other) => one.remaining - other.remaining)[0];
}

/** A duration as OpenAI writes it, never too short: `6ms`, `1.5s`, `1m12s`. */
function durationText(durationMs: number): string {
  const milliseconds = Math.ceil(durationMs);
  if (milliseconds < 1_000) return `${milliseconds}ms`;
  if (milliseconds <= 59_999) return `${milliseconds / 1_000}s`;
  const seconds = Math.ceil(milliseconds / 1_000);
  return `${Math.floor(seconds / 60)}m${seconds % 60}s`;
}
