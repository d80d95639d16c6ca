import { isObject, parseObject } from '../../ai/index.js';
import { ApiError, errorBody, STATUS_TABLE, type ErrorCode } from '../../http/index.js';
import type { Turn } from '../store/index.js';

/** Nothing was said to a model, or nothing that it heard. */
const REFUSALS: ReadonlySet<ErrorCode> = new Set([
  'rate_limit_exceeded',
  'insufficient_quota',
  'overloaded',
  'draining',
  'store_unavailable',
]);

export function conversationMissing(): ApiError {
  return new ApiError('not_found', 'there is no such conversation');
}

export function turnMissing(): ApiError {
  return new ApiError('not_found', 'there is no such turn in this conversation');
}

export function conversationChanged(): ApiError {
  return new ApiError('conversation_changed', 'the conversation has changed since: get it again', {
    param: 'If-Match',
  });
}

/** @param turnId - of the one that runs, where it is known */
export function turnInProgress(turnId: string | undefined, retryAfterMs: number): ApiError {
  const which = turnId === undefined ? 'a turn' : `turn ${turnId}`;
  return new ApiError('turn_in_progress', `${which} of this conversation is running`, {
    retryAfterMs,
    details: { turn_id: turnId ?? null },
  });
}

/** What is kept of the error that ended a turn: JSON. */
export function endError(error: ApiError | undefined): string | undefined {
  if (error === undefined) return undefined;
  return JSON.stringify({
    status_code: error.code,
    retry_after_ms: error.retryAfterMs,
    ...errorBody(error).error,
  });
}

/**
 * Whether a turn was refused for lack of room, quota or a store: a later try may well be answered.
 */
export function isRefusal({ status, error }: Pick<Turn, 'status' | 'error'>): boolean {
  const code = error === undefined ? undefined : parseObject(error)?.['status_code'];
  return status === 'failed' && isCode(code) && REFUSALS.has(code);
}

/** The error that ended a turn as it was; unless it was refused, another try with the same key would only be told of it again. */
export function errorOf(turn: Pick<Turn, 'id' | 'status' | 'error'>): ApiError | undefined {
  const { id, error } = turn;
  const kept = error === undefined ? undefined : parseObject(error);
  if (!isObject(kept)) return undefined;
  const { status_code: code, message, param, code: reportedCode, retry_after_ms: retryAfterMs } = kept;
  return new ApiError(isCode(code) ? code : 'internal_error', String(message), {
    ...(typeof param === 'string' && { param }),
    ...(typeof reportedCode === 'string' && { reportedCode }),
    ...(isRefusal(turn) ? typeof retryAfterMs === 'number' && { retryAfterMs } : { isRetryable: false }),
    details: { turn_id: id },
  });
}

function isCode(code: unknown): code is ErrorCode {
  return typeof code === 'string' && Object.hasOwn(STATUS_TABLE, code);
}
