import { ApiError, type ErrorCode, STATUS_TABLE } from '../../../http/index.js';
import type { TraceIds } from '../../../observability/index.js';
import type { RouteReason } from '../../route/obstacle.js';
import { isObject, type JsonObject, parseObject } from '../../wire/json-value.js';

/** Who gave an answer, and why he. */
export interface AnswerFacts {
  /** Catalogue name. */
  readonly model: string;
  readonly provider: string;
  /** Of the call that was answered. */
  readonly route: RouteReason;
  /** The call that got it, where that was traced. */
  readonly trace?: TraceIds;
}

const ROUTES = {
  requested: true,
  alias: true,
  tier: true,
  quota: true,
  busy: true,
  cooldown: true,
  context: true,
  error: true,
  retired: true,
} as const satisfies Record<RouteReason, true>;

/** A whole answer, to be given again. */
export interface Recording extends AnswerFacts {
  /** `json`: the text of a chat completion. `stream`: all server-sent events of one that came to its regular end. */
  readonly kind: 'json' | 'stream';
  readonly text: string;
}

/** What those who wait for a call are told of its end. */
export type Told = { readonly recording: Recording } | { readonly failure: ApiError };

/** One line of facts, then the answer as it is: it is long, and not to be escaped. */
export function formatRecording({ text, ...facts }: Recording): string {
  return `${JSON.stringify(facts)}\n${text}`;
}

export function formatFailure({ code, message, param, retryAfterMs, isRetryable, reportedCode }: ApiError): string {
  return `${JSON.stringify({ kind: 'failed', code, message, param, retryAfterMs, isRetryable, reportedCode })}\n`;
}

/** Undefined for what neither of them wrote. */
export function parseTold(whole: string): Told | undefined {
  const lineEnd = whole.indexOf('\n');
  const facts = lineEnd === -1 ? undefined : parseObject(whole.slice(0, lineEnd));
  if (facts === undefined) return undefined;
  if (facts['kind'] === 'failed') return failureOf(facts);
  return recordingOf(facts, whole.slice(lineEnd + 1));
}

export function parseRecording(whole: string): Recording | undefined {
  const told = parseTold(whole);
  return told !== undefined && 'recording' in told ? told.recording : undefined;
}

function recordingOf({ kind, model, provider, route, trace }: JsonObject, text: string): Told | undefined {
  if (kind !== 'json' && kind !== 'stream') return undefined;
  if (typeof model !== 'string' || typeof provider !== 'string' || !isRoute(route)) return undefined;
  return { recording: { kind, model, provider, route, ...tracedBy(trace), text } };
}

function tracedBy(trace: unknown): Pick<AnswerFacts, 'trace'> {
  if (!isObject(trace)) return {};
  const { traceId, spanId } = trace;
  return typeof traceId === 'string' && typeof spanId === 'string' ? { trace: { traceId, spanId } } : {};
}

function failureOf({ code, message, ...facts }: JsonObject): Told | undefined {
  if (!isErrorCode(code) || typeof message !== 'string') return undefined;
  const { param, retryAfterMs, isRetryable, reportedCode } = facts;
  return {
    failure: new ApiError(code, message, {
      ...(typeof param === 'string' && { param }),
      ...(typeof retryAfterMs === 'number' && { retryAfterMs }),
      ...(typeof isRetryable === 'boolean' && { isRetryable }),
      ...(typeof reportedCode === 'string' && { reportedCode }),
    }),
  };
}

function isRoute(route: unknown): route is RouteReason {
  return typeof route === 'string' && Object.hasOwn(ROUTES, route);
}

function isErrorCode(code: unknown): code is ErrorCode {
  return typeof code === 'string' && Object.hasOwn(STATUS_TABLE, code);
}
