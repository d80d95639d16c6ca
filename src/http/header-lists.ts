import type { IncomingHttpHeaders } from 'node:http';
import { CALL_HEADERS, REPORT_HEADERS } from './own-headers.js';

/** Every header of ours on an answer that a browser's script may read; the rest of design's response headers are CORS-safe. */
export const EXPOSED_RESPONSE_HEADERS = [
  'x-request-id',
  ...Object.values(REPORT_HEADERS),
  'x-ratelimit-limit-requests',
  'x-ratelimit-limit-tokens',
  'x-ratelimit-remaining-requests',
  'x-ratelimit-remaining-tokens',
  'x-ratelimit-reset-requests',
  'x-ratelimit-reset-tokens',
  'retry-after',
  'retry-after-ms',
  'x-should-retry',
  'etag',
  'idempotent-replayed',
  'openai-processing-ms',
  'openai-version',
] as const;

/** What a browser's script may send. The official client adds `user-agent`, `openai-*` and the `x-stainless-*` ones by itself. */
export const ALLOWED_REQUEST_HEADERS = [
  'accept',
  'authorization',
  'cache-control',
  'content-type',
  'idempotency-key',
  'if-match',
  'last-event-id',
  'openai-beta',
  'openai-organization',
  'openai-project',
  'traceparent',
  'tracestate',
  'user-agent',
  ...Object.values(CALL_HEADERS),
  'x-request-id',
  'x-stainless-arch',
  'x-stainless-async',
  'x-stainless-custom-poll-interval',
  'x-stainless-helper-method',
  'x-stainless-lang',
  'x-stainless-os',
  'x-stainless-package-version',
  'x-stainless-poll-helper',
  'x-stainless-retry-count',
  'x-stainless-runtime',
  'x-stainless-runtime-version',
  'x-stainless-timeout',
] as const;

type HeaderRules = Readonly<Record<string, RegExp>>;

const TO_UPSTREAM: HeaderRules = {
  'openai-beta': /^[\w.=,; -]{1,256}$/,
  // https://www.w3.org/TR/trace-context/: version, trace id, parent id, flags; the all-zero ids and version ff are invalid
  traceparent: /^(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/,
  tracestate: /^[\x20-\x7e]{1,512}$/,
};

const FROM_UPSTREAM: HeaderRules = {
  'openai-processing-ms': /^\d{1,9}(?:\.\d{1,6})?$/,
  'openai-version': /^\d{4}-\d\d-\d\d$/,
};

/**
 * What of a caller's headers an upstream gets to see: an allow-list. Authorization (it names a caller of ours, not a provider's
 * key), cookies, hop-by-hop and our own headers never pass. `tracestate` has no meaning without a valid `traceparent`.
 */
export function forwardedRequestHeaders(headers: IncomingHttpHeaders): Record<string, string> {
  const { tracestate, ...forwarded } = pick(headers, TO_UPSTREAM);
  const hasTrace = forwarded['traceparent'] !== undefined && tracestate !== undefined;
  return hasTrace ? { ...forwarded, tracestate } : forwarded;
}

/** What of an upstream's answer a caller gets to see: an allow-list, so no cookie, organisation id or hop-by-hop header. */
export function forwardedResponseHeaders(headers: IncomingHttpHeaders): Record<string, string> {
  return pick(headers, FROM_UPSTREAM);
}

function pick(headers: IncomingHttpHeaders, rules: HeaderRules): Record<string, string> {
  const picked: Record<string, string> = {};
  for (const [name, rule] of Object.entries(rules)) {
    const value = headers[name];
    if (typeof value === 'string' && rule.test(value)) picked[name] = value;
  }
  return picked;
}
