import type { WindowUsage } from '../../admission/index.js';

/**
 * The caller's own limits as OpenAI tells its limits: what may be used in the longest window, what is left of it, and after how long
 * all of it is there again (its rate limit guide: `x-ratelimit-*`, durations such as `60s`).
 */
export function limitHeaders(usage: readonly WindowUsage[] = []): Readonly<Record<string, string>> {
  const [longest] = usage.toSorted((one, other) => other.windowMs - one.windowMs);
  if (longest === undefined) return {};
  const { windowMs, requests, requestLimit, tokens, tokenLimit } = longest;
  const ofRequests = headersOf('requests', requestLimit, requests, windowMs);
  return Object.assign(ofRequests, headersOf('tokens', tokenLimit, tokens, windowMs));
}

function headersOf(
  unit: 'requests' | 'tokens',
  limit: number | undefined,
  used: number,
  windowMs: number,
): Record<string, string> {
  if (limit === undefined) return {};
  return {
    [`x-ratelimit-limit-${unit}`]: String(limit),
    [`x-ratelimit-remaining-${unit}`]: String(Math.max(0, limit - used)),
    [`x-ratelimit-reset-${unit}`]: `${String(windowMs / 1_000)}s`,
  };
}
