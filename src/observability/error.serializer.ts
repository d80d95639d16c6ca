import { types } from 'node:util';

/** How far causes and aggregated errors are followed; also the end of a chain that bites its own tail. */
const MAX_DEPTH = 5;
/** How many of an AggregateError's errors are written. */
const MAX_ERRORS = 5;
const MAX_MESSAGE_LENGTH = 2_000;
const MAX_STACK_LENGTH = 4_000;

/**
 * `Unexpected token 'A', "ANSWER: my"... is not valid JSON`, `…"23 ANSWER 4"... is not valid JSON`, `"abc" is not valid JSON`. V8 shows a
 * few words; to look for any number of them would take time that grows with the square of the text.
 */
const NOT_JSON = ' is not valid JSON';
const QUOTED_TEXT = /(?:Unexpected token '[^]{1,2}', )?(?:\.\.\.)?"[^]{0,400}"(?:\.\.\.)? is not valid JSON/;
/** Node's ERR_INVALID_ARG_TYPE and _VALUE: `Received type string ('ANSWER: my…')`, `Received 'ANSWER'`. */
const RECEIVED_TEXT = /(Received (?:type \w+ )?)\(?['"`][^\n]*/;

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

/** An error with the fields that are looked at besides the standard ones; who made them, and of what type, is unknown. */
interface AnyError extends Error {
  /** What is to be written in place of its message, which may quote a prompt. */
  readonly loggedAs?: unknown;
  readonly code?: unknown;
  readonly status?: unknown;
  readonly errors?: unknown;
}

/** True for errors of any realm. */
export function isError(value: unknown): value is AnyError {
  return types.isNativeError(value) || value instanceof Error;
}

/**
 * Picks what may be logged of whatever was thrown, by name. Everything else stays behind: a transport's error carries its request
 * with the provider's key in it (axios: `config.headers`), and no list of forbidden fields would be complete.
 */
export function serializeError(error: unknown, depth = MAX_DEPTH): SerializedError {
  if (!isError(error)) return { type: typeof error, message: cut(describe(error), MAX_MESSAGE_LENGTH) };
  const { message, stack } = textOf(error);
  return {
    type: error.name,
    message: cut(withoutQuotes(message), MAX_MESSAGE_LENGTH),
    ...pickFields(error),
    ...(stack === undefined ? {} : { stack: cut(withoutQuotes(stack), MAX_STACK_LENGTH) }),
    ...(depth === 0 ? {} : pickInnerErrors(error, depth - 1)),
  };
}

/** A stack begins with the message. */
function textOf({ message, stack, loggedAs }: AnyError): { readonly message: string; readonly stack?: string } {
  if (typeof loggedAs === 'string') return { message: loggedAs };
  return stack === undefined ? { message } : { message, stack };
}

/**
 * An error's text without what V8 and Node quote of the input they could not read: JSON.parse shows the first characters of a text,
 * or those around the fault, and that text may be a prompt or an answer.
 */
export function withoutQuotes(text: string): string {
  if (text.includes(NOT_JSON)) return text.replace(QUOTED_TEXT, `[quoted text]${NOT_JSON}`);
  return text.includes('Received ') ? text.replace(RECEIVED_TEXT, '$1[quoted text]') : text;
}

function pickFields({ code, status }: AnyError): Pick<SerializedError, 'code' | 'status'> {
  return {
    ...(typeof code === 'string' || typeof code === 'number' ? { code } : {}),
    ...(typeof status === 'number' ? { status } : {}),
  };
}

function pickInnerErrors({ cause, errors }: AnyError, depth: number): Pick<SerializedError, 'cause' | 'errors'> {
  return {
    ...(cause === undefined ? {} : { cause: serializeError(cause, depth) }),
    ...(Array.isArray(errors)
      ? { errors: errors.slice(0, MAX_ERRORS).map((item) => serializeError(item, depth)) }
      : {}),
  };
}

/** A thrown object is named, not shown: what is in it is unknown. */
function describe(thrown: unknown): string {
  if (typeof thrown === 'string') return thrown;
  return typeof thrown === 'object' && thrown !== null ? 'not an error' : String(thrown);
}

function cut(text: string, maxLength: number): string {
  return text.length <= maxLength ? text : `${text.slice(0, maxLength)}…`;
}
