import { hash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ApiError, CALL_HEADERS, clientSignal, forwardedRequestHeaders } from '../../http/index.js';
import { addOutcome } from '../../observability/index.js';
import type { CallReport, CompletionCall } from '../call/completion-call.js';
import { isObject, member } from '../wire/json-value.js';
import { CallTrace } from '../call/call.trace.js';
import { outcomeFields } from './report.outcome.js';
import { parseChatRequest } from '../call/chat-request.js';

/** Of a caller's word in a message, characters. */
const NAME_LIMIT = 80;

/**
 * Reads a completion call off a request.
 *
 * @param deadlineMs - the longest that any call may take
 * @param ended - called once, when the call is over, with its error if there was one
 * @throws ApiError invalid_request
 */
export function readCall(
  request: FastifyRequest,
  reply: FastifyReply,
  deadlineMs: number,
  ended: (call: CompletionCall, error?: unknown) => void,
): CompletionCall {
  const { bodyText = '' } = request;
  const call = openCall(
    {
      request: parseChatRequest(request.body, bodyText),
      bodyText,
      body: isObject(request.body) ? request.body : {},
      ...readTerms(request, deadlineMs),
      signal: clientSignal(request, reply),
    },
    ended,
  );
  // Read when the line is written: a caller that leaves is logged before the call has noticed.
  addOutcome(request, () => outcomeFields(call.report));
  return call;
}

/**
 * A call that begins now.
 *
 * @param ended - called once, when it is over, with its error if there was one
 */
export function openCall(
  given: Omit<CompletionCall, 'startedAt' | 'report' | 'ended' | 'trace'>,
  ended: (call: CompletionCall, error?: unknown) => void,
): CompletionCall {
  const report: CallReport = { attempts: 0 };
  const { span, request, requestId } = given;
  const trace = span === undefined ? undefined : new CallTrace(span, request, requestId);
  const call: CompletionCall = {
    trace,
    startedAt: performance.now(),
    report,
    ended: once((error) => {
      report.failure = error;
      ended(call, error);
      trace?.end(report, error);
    }),
    ...given,
  };
  return call;
}

/** What a request's headers, and who sent it, say of the calls that are made for it. */
export type CallTerms = Pick<
  CompletionCall,
  'caller' | 'requestId' | 'forwardedHeaders' | 'span' | 'idempotencyKeyHash' | 'isStrict' | 'deadlineMs'
>;

/**
 * Reads the terms off a request.
 *
 * @param deadlineMs - the longest that it may take
 * @throws ApiError invalid_request
 */
export function readTerms(request: FastifyRequest, deadlineMs: number): CallTerms {
  if (request.caller === undefined) throw new Error('a completion needs a caller');
  const key = request.headers['idempotency-key'];
  return {
    caller: request.caller,
    requestId: request.id,
    span: request.span,
    forwardedHeaders: forwardedRequestHeaders(request.headers),
    ...(typeof key === 'string' && { idempotencyKeyHash: hash('sha256', key) }),
    isStrict: readStrict(request),
    deadlineMs: Math.min(deadlineMs, askedDeadlineMs(request) ?? deadlineMs),
  };
}

function once(told: (error?: unknown) => void): (error?: unknown) => void {
  let isTold = false;
  return (error) => {
    if (isTold) return;
    isTold = true;
    told(error);
  };
}

function askedDeadlineMs({ headers }: FastifyRequest): number | undefined {
  const name = CALL_HEADERS.timeoutMs;
  const value = headers[name];
  if (value === undefined) return undefined;
  // As many digits as anybody likes: the server's own deadline holds at the latest.
  const ms = typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : 0;
  if (ms === 0) {
    throw new ApiError('invalid_request', `${name} must be a whole number of milliseconds above 0`, { param: name });
  }
  return ms;
}

/** A misspelt `true` must not buy a substitute. */
function readStrict({ headers }: FastifyRequest): boolean {
  const name = CALL_HEADERS.strict;
  const value = headers[name];
  if (value === undefined || value === 'false') return false;
  if (value === 'true') return true;
  throw new ApiError('invalid_request', `${name} must be true or false`, { param: name });
}

/**
 * Whether nothing is to be called.
 *
 * @throws ApiError for anything but `dryRun=true` and `dryRun=false`: one that is misspelt must not buy a call
 */
export function isDryRun({ query }: FastifyRequest): boolean {
  const given = isObject(query) ? query : {};
  const misspelt = Object.keys(given).find(
    // Its `=` may have been encoded with it.
    (name) =>
      name !== 'dryRun' &&
      name
        .replace(/[^a-z]/gi, '')
        .toLowerCase()
        .startsWith('dryrun'),
  );
  if (misspelt !== undefined) {
    const param = misspelt.slice(0, NAME_LIMIT);
    throw new ApiError('invalid_request', `${JSON.stringify(param)} is no parameter here: did you mean dryRun?`, {
      param,
    });
  }
  const value = member(given, 'dryRun');
  if (value === undefined || value === 'false') return false;
  if (value === 'true') return true;
  throw new ApiError('invalid_request', 'dryRun must be true or false', { param: 'dryRun' });
}
