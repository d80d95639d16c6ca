import { types } from 'node:util';

/** How far causes and aggregated errors are followed; also the end of a chain that bites its own tail. */
const MAX_DEPTH = 5;
/** How many of an AggregateError's errors are written. */
const MAX_ERRORS = 5;
const MAX_MESSAGE_LENGTH = 2_000;
const MAX_STACK_LENGTH = 4_000;

/** All that is ever written of an error. */
export interface SerializedError {
  readonly type: string;
  readonly message: string;
  readonly code?: string | number;
  readonly status?: number;
  readonly stack?: string;
  readonly cause?: SerializedError;
  readonly errors?: readonly SerializedError[];
}

/** True for errors of any realm. */
export function isError(value: unknown): value is Error {
  return types.isNativeError(value) || value instanceof Error;
}

/**
 * Picks what may be logged of whatever was thrown, by name. Everything else stays behind: a transport's error carries its request
 * with the provider's key in it (axios: `config.headers`), and no list of forbidden fields would be complete.
 */
export function serializeError(error: unknown, depth = MAX_DEPTH): SerializedError {
  if (!isError(error)) return { type: typeof error, message: cut(describe(error), MAX_MESSAGE_LENGTH) };
  const { code, status, errors } = ownFields(error);
  return {
    type: error.name,
    message: cut(error.message, MAX_MESSAGE_LENGTH),
    ...(typeof code === 'string' || typeof code === 'number' ? { code } : {}),
    ...(typeof status === 'number' ? { status } : {}),
    ...(error.stack === undefined ? {} : { stack: cut(error.stack, MAX_STACK_LENGTH) }),
    ...(error.cause === undefined || depth === 0 ? {} : { cause: serializeError(error.cause, depth - 1) }),
    ...(Array.isArray(errors) && depth > 0
      ? { errors: errors.slice(0, MAX_ERRORS).map((item) => serializeError(item, depth - 1)) }
      : {}),
  };
}

function ownFields(error: object): { code?: unknown; status?: unknown; errors?: unknown } {
  return error;
}

/** A thrown object is named, not shown: what is in it is unknown. */
function describe(thrown: unknown): string {
  if (typeof thrown === 'string') return thrown;
  return typeof thrown === 'object' && thrown !== null ? 'not an error' : String(thrown);
}

function cut(text: string, maxLength: number): string {
  return text.length <= maxLength ? text : `${text.slice(0, maxLength)}…`;
}
