/* The headers that are this service's own: the one place where their names stand. */

/** What a caller may say of one request. */
export const CALL_HEADERS = {
  strict: 'x-coordinator-strict',
  timeoutMs: 'x-coordinator-timeout-ms',
} as const;

/** What a completion's answer says of the way to it. */
export const REPORT_HEADERS = {
  model: 'x-coordinator-model',
  provider: 'x-coordinator-provider',
  route: 'x-coordinator-route',
  attempts: 'x-coordinator-attempts',
  cache: 'x-coordinator-cache',
  queueMs: 'x-coordinator-queue-ms',
  upstreamMs: 'x-coordinator-upstream-ms',
  totalMs: 'x-coordinator-total-ms',
  costUsd: 'x-coordinator-cost-usd',
} as const;
