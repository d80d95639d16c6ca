import type { ApiError } from './api-error.js';
import { STATUS_TABLE, type StatusRow } from './status-table.js';

/** OpenAI's error object, the only shape in which this server tells a failure. */
export interface ErrorBody {
  readonly error: {
    readonly message: string;
    readonly type: string;
    readonly param: string | null;
    readonly code: string | null;
  };
}

/** The HTTP status of an error, by the one table. */
export function errorStatus(error: ApiError): number {
  return rowOf(error).status;
}

/** The body of an error answer, or the `data` of an error frame on a stream. */
export function errorBody(error: ApiError): ErrorBody {
  return {
    error: {
      ...error.details,
      message: error.message,
      type: rowOf(error).type,
      param: error.param ?? null,
      code: error.reportedCode,
    },
  };
}

/**
 * The headers that tell a client whether and when to try again. `retry-after` is in whole seconds, rounded up, so that nobody
 * comes too early; `retry-after-ms` is exact (the official clients read it first). `x-should-retry` overrides the clients' own
 * list of retried statuses; where it says no, the table's own delay is left out. A 401 names its scheme, as RFC 9110 section 15.5.2 asks.
 */
export function errorHeaders(error: ApiError): Record<string, string> {
  const row = rowOf(error);
  const headers: Record<string, string> = {};
  const isRetryable = error.isRetryable ?? row.shouldRetry;
  const retryAfterMs = error.retryAfterMs ?? (isRetryable === false ? undefined : row.retryAfterMs);
  if (retryAfterMs !== undefined && Number.isFinite(retryAfterMs)) {
    const waitMs = Math.max(0, Math.ceil(retryAfterMs));
    headers['retry-after'] = String(Math.ceil(waitMs / 1_000));
    headers['retry-after-ms'] = String(waitMs);
  }
  if (isRetryable !== undefined) headers['x-should-retry'] = String(isRetryable);
  if (row.status === 401) headers['www-authenticate'] = 'Bearer';
  return headers;
}

function rowOf(error: ApiError): StatusRow {
  return STATUS_TABLE[error.code];
}
