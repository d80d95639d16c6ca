import type { OutgoingHttpHeaders } from 'node:http';

const REQUESTS_PER_MINUTE = 10_000;
const TOKENS_PER_MINUTE = 30_000_000;

/** The headers that OpenAI puts on every completion; `openai-processing-ms` is added when the head is sent. */
export function providerHeaders(requestId: string, promptTokens: number): OutgoingHttpHeaders {
  return {
    'x-request-id': requestId,
    'openai-version': '2020-10-01',
    'openai-organization': 'simulator',
    'x-ratelimit-limit-requests': String(REQUESTS_PER_MINUTE),
    'x-ratelimit-limit-tokens': String(TOKENS_PER_MINUTE),
    'x-ratelimit-remaining-requests': String(REQUESTS_PER_MINUTE - 1),
    'x-ratelimit-remaining-tokens': String(Math.max(0, TOKENS_PER_MINUTE - promptTokens)),
    'x-ratelimit-reset-requests': refillTime(1, REQUESTS_PER_MINUTE),
    'x-ratelimit-reset-tokens': refillTime(promptTokens, TOKENS_PER_MINUTE),
  };
}

/** A duration as OpenAI writes it: `6ms`, `1.5s`, `1m12s`. */
function refillTime(used: number, perMinute: number): string {
  const milliseconds = Math.ceil((used * 60_000) / perMinute);
  if (milliseconds < 1_000) {
    return `${String(milliseconds)}ms`;
  }
  const seconds = milliseconds / 1_000;
  return seconds < 60
    ? `${String(seconds)}s`
    : `${String(Math.floor(seconds / 60))}m${String(Math.round(seconds % 60))}s`;
}
