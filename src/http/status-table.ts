/** What one error code means on the wire. */
export interface StatusRow {
  readonly status: number;
  /** OpenAI's `error.type`. */
  readonly type: string;
  /** `x-should-retry`: overrides the official clients' own list of retried statuses. Undefined: the client decides. */
  readonly shouldRetry?: boolean;
  /** Retry-After when the error brings none, ms. */
  readonly retryAfterMs?: number;
  /**
   * What callers read in place of another module's own words. Those are written for operators: they name keys of locks, which hold
   * users' data, other holders, addresses and settings.
   */
  readonly text?: string;
  /** The same where another try is of no use. */
  readonly finalText?: string;
}

/** The one place where an error code becomes an HTTP answer. */
export const STATUS_TABLE = {
  invalid_request: { status: 400, type: 'invalid_request_error' },
  context_length_exceeded: { status: 400, type: 'invalid_request_error' },
  invalid_api_key: { status: 401, type: 'authentication_error' },
  model_not_allowed: { status: 403, type: 'permission_error' },
  insufficient_scope: { status: 403, type: 'permission_error' },
  forbidden: { status: 403, type: 'permission_error' },
  host_not_allowed: { status: 403, type: 'permission_error' },
  model_not_found: { status: 404, type: 'invalid_request_error' },
  not_found: { status: 404, type: 'invalid_request_error' },
  method_not_allowed: { status: 405, type: 'invalid_request_error' },
  request_timeout: { status: 408, type: 'invalid_request_error' },
  conflict: { status: 409, type: 'conflict_error', shouldRetry: false },
  turn_in_progress: { status: 409, type: 'conflict_error', retryAfterMs: 1_000 },
  lock_busy: {
    status: 409,
    type: 'conflict_error',
    retryAfterMs: 1_000,
    text: 'somebody else has what this request needs; try again later',
  },
  lock_timeout: {
    status: 409,
    type: 'conflict_error',
    retryAfterMs: 1_000,
    text: 'what this request needs did not become free in time; try again later',
  },
  model_retired: { status: 410, type: 'invalid_request_error' },
  conversation_changed: { status: 412, type: 'invalid_request_error' },
  precondition_failed: { status: 412, type: 'invalid_request_error' },
  request_too_large: { status: 413, type: 'invalid_request_error' },
  context_window_exceeded: { status: 413, type: 'invalid_request_error' },
  unsupported_media_type: { status: 415, type: 'invalid_request_error' },
  range_not_satisfiable: { status: 416, type: 'invalid_request_error' },
  unprocessable: { status: 422, type: 'invalid_request_error' },
  idempotency_mismatch: { status: 422, type: 'invalid_request_error' },
  rate_limit_exceeded: { status: 429, type: 'rate_limit_error', retryAfterMs: 1_000 },
  insufficient_quota: { status: 429, type: 'insufficient_quota', shouldRetry: false },
  headers_too_large: { status: 431, type: 'invalid_request_error' },
  lock_lost: {
    status: 500,
    type: 'api_error',
    shouldRetry: false,
    text: 'the request lost its lock before it ended: part of it may be done, or done twice',
  },
  internal_error: { status: 500, type: 'api_error', shouldRetry: false },
  upstream_error: { status: 502, type: 'api_error' },
  upstream_auth: { status: 502, type: 'api_error', shouldRetry: false },
  overloaded: { status: 503, type: 'overloaded_error', retryAfterMs: 1_000 },
  draining: { status: 503, type: 'overloaded_error', shouldRetry: true, retryAfterMs: 1_000 },
  store_unavailable: {
    status: 503,
    type: 'api_error',
    retryAfterMs: 1_000,
    text: 'the store is not available now; try again later',
    finalText: "the store can't do what this request needs until an operator has changed something",
  },
  timeout: { status: 504, type: 'timeout_error' },
  http_version_unknown: { status: 505, type: 'invalid_request_error', shouldRetry: false },
} as const satisfies Record<string, StatusRow>;

export type ErrorCode = keyof typeof STATUS_TABLE;
