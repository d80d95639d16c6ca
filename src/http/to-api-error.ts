import { STATUS_CODES } from 'node:http';
import { HttpException } from '@nestjs/common';
import { ApiError, type ApiErrorOptions } from './api-error.js';
import { isError } from './is-error.js';
import { STATUS_TABLE, type ErrorCode, type StatusRow } from './status-table.js';

/** What the mapping may say beside the error itself. */
export interface ErrorFacts {
  /** Named in the text of an internal error, so that a report finds its log line. */
  readonly requestId?: string;
  /** Named when a body is too large, bytes. */
  readonly bodyLimitBytes?: number;
}

/** For exceptions that know only their status: Nest's own and Fastify's. */
const CODE_BY_STATUS: Readonly<Record<number, ErrorCode>> = {
  400: 'invalid_request',
  401: 'invalid_api_key',
  403: 'forbidden',
  404: 'not_found',
  405: 'method_not_allowed',
  408: 'request_timeout',
  409: 'conflict',
  412: 'precondition_failed',
  413: 'request_too_large',
  414: 'invalid_request',
  415: 'unsupported_media_type',
  416: 'range_not_satisfiable',
  422: 'unprocessable',
  429: 'rate_limit_exceeded',
  431: 'headers_too_large',
  502: 'upstream_error',
  503: 'overloaded',
  504: 'timeout',
};

const FASTIFY_FAULTS: Readonly<Record<string, readonly [ErrorCode, string]>> = {
  FST_ERR_BAD_URL: ['invalid_request', 'the request path has a malformed percent-encoding'],
  FST_ERR_MAX_PARAM_LENGTH: ['invalid_request', 'a segment of the request path is too long'],
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: ['invalid_request', 'the body is not as long as content-length says'],
  FST_ERR_CTP_EMPTY_JSON_BODY: ['invalid_request', 'the request body is empty'],
  FST_ERR_CTP_INVALID_MEDIA_TYPE: ['unsupported_media_type', 'the content-type must be application/json'],
};

/**
 * The answer for any thrown value. An ApiError stays itself; an error of another module whose `code` stands in the status table
 * keeps its param and delay, and its message unless the table has a text for callers; Nest's and Fastify's exceptions, and those of Fastify's plugins, are mapped by their status;
 * everything else is an `internal_error` whose text tells nothing of the cause (the cause is kept for the log, as `cause`).
 */
export function toApiError(error: unknown, facts: ErrorFacts = {}): ApiError {
  if (error instanceof ApiError) return error;
  if (error instanceof HttpException) return fromHttpException(error, facts);
  return fromCodedError(error, facts) ?? fromPluginError(error) ?? internalError(error, facts);
}

function fromCodedError(error: unknown, facts: ErrorFacts): ApiError | undefined {
  const code: unknown = isError(error) ? Reflect.get(error, 'code') : undefined;
  if (!isError(error) || typeof code !== 'string') return undefined;
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE') return bodyTooLarge(facts, error);
  const fault = Object.hasOwn(FASTIFY_FAULTS, code) ? FASTIFY_FAULTS[code] : undefined;
  if (fault !== undefined) return new ApiError(fault[0], fault[1], { cause: error });
  if (!isErrorCode(code) || code === 'internal_error') return undefined;
  const options = optionsOf(error);
  return new ApiError(code, textFor(code, options) ?? error.message, { ...options, cause: error });
}

/** What callers read in place of the error's own words, if the table has something. */
function textFor(code: ErrorCode, { isRetryable }: ApiErrorOptions): string | undefined {
  const { text, finalText = text }: StatusRow = STATUS_TABLE[code];
  return isRetryable === false ? finalText : text;
}

/** The facts that an error of another module brings, as far as they are what they should be. */
function optionsOf(error: Error): ApiErrorOptions {
  const param: unknown = Reflect.get(error, 'param');
  const retryAfterMs: unknown = Reflect.get(error, 'retryAfterMs');
  const isRetryable: unknown = Reflect.get(error, 'isRetryable');
  return {
    ...(typeof param === 'string' && { param }),
    ...(typeof retryAfterMs === 'number' && { retryAfterMs }),
    ...(typeof isRetryable === 'boolean' && { isRetryable }),
  };
}

/** What a caller did wrong in a plugin's eyes. Its text may quote anything, so the status's own name stands for it. */
function fromPluginError(error: unknown): ApiError | undefined {
  const status = isError(error) ? pluginStatus(error) : undefined;
  if (status === undefined || status < 400 || status >= 500) return undefined;
  const text = STATUS_CODES[status]?.toLowerCase() ?? 'invalid request';
  return new ApiError(CODE_BY_STATUS[status] ?? 'invalid_request', text, { cause: error });
}

/**
 * The status of an error made by Fastify, or by `http-errors` and its like, which say it twice. Those of HTTP clients have a status
 * too, but that one is what somebody else answered to us.
 */
function pluginStatus(error: Error): number | undefined {
  const code: unknown = Reflect.get(error, 'code');
  const statusCode: unknown = Reflect.get(error, 'statusCode');
  if (typeof statusCode !== 'number') return undefined;
  if (typeof code === 'string' && code.startsWith('FST_')) return statusCode;
  const isClients = Reflect.has(error, 'body') || Reflect.has(error, 'response');
  return statusCode === Reflect.get(error, 'status') && !isClients ? statusCode : undefined;
}

function fromHttpException(error: HttpException, facts: ErrorFacts): ApiError {
  const status = error.getStatus();
  if (status === 413) return bodyTooLarge(facts, error);
  const code = CODE_BY_STATUS[status] ?? (status >= 400 && status < 500 ? 'invalid_request' : undefined);
  return code === undefined ? internalError(error, facts) : new ApiError(code, messageOf(error), { cause: error });
}

/** Nest puts a list of faults into the response object and only a title into the message. */
function messageOf(error: HttpException): string {
  const response = error.getResponse();
  if (typeof response !== 'object' || !('message' in response) || !Array.isArray(response.message))
    return error.message;
  return response.message.filter((line) => typeof line === 'string').join('; ');
}

/** A body above the limit; says the limit when it is known. */
export function bodyTooLarge(facts: ErrorFacts, cause?: unknown): ApiError {
  const limit = facts.bodyLimitBytes === undefined ? '' : `: the limit is ${String(facts.bodyLimitBytes)} bytes`;
  return new ApiError('request_too_large', `the request body is too large${limit}`, { cause });
}

function internalError(cause: unknown, facts: ErrorFacts): ApiError {
  const id = facts.requestId === undefined ? '' : `; request id ${facts.requestId}`;
  return new ApiError('internal_error', `internal error${id}`, { cause });
}

function isErrorCode(code: string): code is ErrorCode {
  return Object.hasOwn(STATUS_TABLE, code);
}
