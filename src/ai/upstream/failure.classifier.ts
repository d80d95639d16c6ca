import type { ApiErrorOptions, ErrorCode } from '../../http/index.js';
import { entryOf, isObject, type JsonObject, member } from '../wire/json-value.js';
import type { WordTest } from './bounded.patterns.js';
import { saysContextOverflow } from './context-overflow.js';
import { providerError, type ProviderError } from './provider.error.js';
import { retryAfterMs, type UpstreamHeaders } from './retry-after.js';
import { UpstreamFailure } from './upstream-failure.js';

/** Who failed, and with which key of ours. */
export interface FailedProvider {
  /** For messages. */
  readonly name: string;
  /** Taken out of the provider's words: some quote what they were sent, and a caller reads it. */
  readonly apiKey: string;
  /** How it says that a prompt is too long, besides the usual words. */
  readonly contextErrorPatterns?: WordTest;
}

export interface FailedAnswer {
  readonly provider: FailedProvider;
  readonly status: number;
  readonly headers: UpstreamHeaders;
  /** The answer's body, parsed where it is JSON. */
  readonly body: unknown;
  /** How long the provider asks to wait where it says so in the body, ms; a header holds before it. */
  readonly toldMs?: number | undefined;
  /** Unix milliseconds. */
  readonly now: number;
}

/** The caller's own request is refused with these, and with the provider's own words. */
const REQUEST_FAULTS: Readonly<Partial<Record<number, ErrorCode>>> = {
  400: 'invalid_request',
  413: 'request_too_large',
  415: 'unsupported_media_type',
  422: 'unprocessable',
};

/** Codes and types that mean "this account has nothing left", whatever their status (OpenAI; DeepSeek answers a bare 402). */
const EXHAUSTED =
  /^(insufficient_quota|credit_balance_exhausted|billing_error|billing_hard_limit_reached|\w+_spend_limit_(exceeded|reached))$/;

const PARAM_LIMIT = 200;
/** A code is a word for machines; anything else in its place, the status among it (vLLM, Azure), does not go on. */
const CODE = /^(?!\d+$)[\w.:-]{1,64}$/;

/** Codes and types of a prompt that is too long: OpenAI's, which many have taken over, and llama.cpp's. */
const OVERFLOW = /^(context_length_exceeded|exceed_context_size_error)$/;

/** Codes of a model that is not to be had, whatever their status: OpenAI's and Azure's. */
const UNKNOWN_MODEL = /^(model_not_found|DeploymentNotFound)$/;

/** Codes and types of a prompt that a moderator refuses: OpenAI's and Azure's. */
const MODERATED = /^(content_filter|content_policy_violation|moderation_blocked)$/;

/**
 * Turns a provider's refusal into a failure with its blame, by status and structured code: wordings differ between providers and
 * change (one answers a concurrency limit with "INSUFFICIENT QUOTA"). Only for a request that is larger than the window there is often
 * no code, and then the words decide between two faults of the same request.
 */
export function classifyAnswer(answer: FailedAnswer): UpstreamFailure {
  return classified(answer).markedBy({ status: answer.status, requestId: requestIdIn(answer.headers) });
}

/** OpenAI's, which Azure and many others have taken over, and Anthropic's; Google has none. */
const REQUEST_ID_HEADERS = ['x-request-id', 'request-id', 'apim-request-id'];
const REQUEST_ID = /^[\w.:-]{1,128}$/;

function requestIdIn(headers: UpstreamHeaders): string | undefined {
  const given = REQUEST_ID_HEADERS.map((name) => headers[name]);
  return given.find((value): value is string => typeof value === 'string' && REQUEST_ID.test(value));
}

function classified(answer: FailedAnswer): UpstreamFailure {
  const { status, provider } = answer;
  const error = providerError(answer.body, provider.apiKey);
  if (isExhausted(status, error)) {
    return new UpstreamFailure('key', 'insufficient_quota', `the quota bought from ${provider.name} is used up`);
  }
  if (isUnknownModel(status, error)) return deploymentFault(provider, NOT_OFFERED);
  const fault = requestFaultOf(status, error);
  if (fault !== undefined) return requestFault(fault, provider, error);
  if (isOfKey(status, error)) {
    return new UpstreamFailure('key', 'upstream_auth', `${provider.name} refused this service's credentials`);
  }
  if (isPassing(status)) return upstreamFault(answer);
  return deploymentFault(provider, NOT_OFFERED_STATUS.has(status) ? NOT_OFFERED : refusedWith(status));
}

/**
 * An error object that came inside a 200: as the first frame, mid-stream, or as the whole body.
 *
 * @param toldMs - how long the provider asks to wait, where it says so
 */
export function classifyInBand(provider: FailedProvider, body: unknown, now: number, toldMs?: number): UpstreamFailure {
  const error = providerError(body, provider.apiKey);
  const status = statusOf(body, error);
  if (status === undefined && !isExhausted(200, error)) {
    return new UpstreamFailure('upstream', 'upstream_error', `${provider.name} sent an error in place of an answer`);
  }
  return classifyAnswer({ provider, status: status ?? 500, headers: {}, body, now, toldMs });
}

/** Whether an answer or an event says that it is an error: `"error": false`, `""` and `{}` beside good choices do not. */
export function hasError(value: unknown): boolean {
  const error = member(value, 'error');
  return isObject(error) ? Object.keys(error).length > 0 : typeof error === 'string' && error !== '';
}

/** The connection failed, or what came is not the protocol. `cause` is for the log; the caller learns the fact. */
export function brokenUpstream(provider: string, fact: string, cause?: unknown): UpstreamFailure {
  return new UpstreamFailure('upstream', 'upstream_error', `${provider} ${fact}`, { cause });
}

/** A whole answer came and was paid for, but nobody can use it (a call of a tool that is none): the same model may do better elsewhere. */
export function uselessAnswer(provider: string, fact: string, usage?: JsonObject): UpstreamFailure {
  return new UpstreamFailure(
    'deployment',
    'upstream_error',
    `${provider} ${fact}`,
    usage === undefined ? {} : { usage },
  );
}

function isExhausted(status: number, { code, type }: ProviderError): boolean {
  return status === 402 || EXHAUSTED.test(code ?? '') || EXHAUSTED.test(type ?? '');
}

/**
 * This model is not to be had there, or not from here; the same key may do for others. With a 403 the model is one that the account
 * may not use (OpenAI), or it was not the provider's own answer; what is asked of Google in a region or without a bill that it wants
 * comes with a 400.
 */
function isUnknownModel(status: number, { code, type, isForwarded }: ProviderError): boolean {
  if (status === 404) return true;
  if (status >= 500) return false;
  return (
    UNKNOWN_MODEL.test(code ?? '') ||
    (status === 400 && type === 'failed_precondition') ||
    (isDenied(status) && isForwarded)
  );
}

function deploymentFault({ name }: FailedProvider, fact: string): UpstreamFailure {
  return new UpstreamFailure('deployment', 'upstream_error', `${name} ${fact}`);
}

const NOT_OFFERED = 'does not offer the model, or not under the path and the account that it is configured with';
/** Redirects are not followed: a key goes to the URL that is configured, and nowhere else. */
const NOT_OFFERED_STATUS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308, 404, 405, 410]);

function refusedWith(status: number): string {
  return `refused the request with status ${String(status)}, for a reason that is not in it`;
}

/** What the server is not made or set up for stays so: RFC 9110, 15.6.2 and 15.6.6; RFC 2295, 2774, 5842, 6585. */
const LASTING_SERVER_FAULTS: ReadonlySet<number> = new Set([501, 505, 506, 508, 510, 511]);

/**
 * Another try may end otherwise. Of the 4xx these only, so not 425, since no early data is ever sent, nor 499, with which a proxy says that
 * somebody gave up on an answer that may be paid.
 */
function isPassing(status: number): boolean {
  return status === 408 || status === 409 || status === 429 || (status >= 500 && !LASTING_SERVER_FAULTS.has(status));
}

function requestFaultOf(status: number, error: ProviderError): ErrorCode | undefined {
  // llama.cpp has said it with a 500 too.
  if (isOverflowCode(error)) return 'context_length_exceeded';
  if (isDenied(status) && isModerated(error)) return 'invalid_request';
  return isOfKey(status, error) ? undefined : REQUEST_FAULTS[status];
}

/** Google says of a key that is none that the request is. */
function isOfKey(status: number, { reason }: ProviderError): boolean {
  return isDenied(status) || (status === 400 && reason === 'API_KEY_INVALID');
}

function isDenied(status: number): boolean {
  return status === 401 || status === 403;
}

function isModerated({ code, type, isModerated: hasReasons }: ProviderError): boolean {
  return hasReasons || MODERATED.test(code ?? '') || MODERATED.test(type ?? '');
}

function requestFault(fault: ErrorCode, provider: FailedProvider, error: ProviderError): UpstreamFailure {
  const message = error.message ?? `${provider.name} refused the request`;
  const param = error.param === undefined ? {} : { param: error.param.slice(0, PARAM_LIMIT) };
  // Under the one code that clients know for it, whatever the provider calls it.
  if (fault === 'context_length_exceeded' || saysOverflow(error, provider))
    return new UpstreamFailure('request', 'context_length_exceeded', message, param);
  const code = error.isModerated ? 'content_filter' : error.code;
  const reported = code !== undefined && CODE.test(code) ? { reportedCode: code } : {};
  return new UpstreamFailure('request', fault, message, { ...param, ...reported });
}

function isOverflowCode({ code, type }: ProviderError): boolean {
  return OVERFLOW.test(code ?? '') || OVERFLOW.test(type ?? '');
}

function saysOverflow({ message }: ProviderError, { contextErrorPatterns }: FailedProvider): boolean {
  return message !== undefined && saysContextOverflow(message, contextErrorPatterns);
}

/** The longest wait that anybody is told of, ms: a mistake of a provider's must not send callers away for a year. */
const LONGEST_TOLD_MS = 3_600_000;

function upstreamFault({ status, headers, provider: { name }, now, toldMs }: FailedAnswer): UpstreamFailure {
  const wait = retryAfterMs(headers, now) ?? toldMs;
  const options: ApiErrorOptions = wait === undefined ? {} : { retryAfterMs: Math.min(wait, LONGEST_TOLD_MS) };
  if (status === 429) {
    return new UpstreamFailure('upstream', 'rate_limit_exceeded', `${name} is at its rate limit`, options);
  }
  // 529: Anthropic's overloaded_error.
  if (status === 503 || status === 529) {
    return new UpstreamFailure('upstream', 'overloaded', `${name} is overloaded`, options);
  }
  if (status === 408 || status === 504) {
    return new UpstreamFailure('upstream', 'timeout', `${name} timed out`, options);
  }
  return new UpstreamFailure('upstream', 'upstream_error', `${name} failed with status ${String(status)}`, options);
}

/** In-band errors carry a status as number or digits in `code` (OpenRouter, LiteLLM) or only a type. */
function statusOf(body: unknown, error: ProviderError): number | undefined {
  const nested = member(body, 'error');
  const code = Number(error.code ?? member(nested, 'status') ?? Number.NaN);
  if (Number.isInteger(code) && code >= 400 && code < 600) return code;
  return entryOf(STATUS_OF_TYPE, error.type ?? '') ?? entryOf(STATUS_OF_TYPE, error.code ?? '');
}

const STATUS_OF_TYPE: Readonly<Partial<Record<string, number>>> = {
  invalid_request_error: 400,
  context_length_exceeded: 400,
  exceed_context_size_error: 400,
  content_filter: 400,
  model_not_found: 404,
  authentication_error: 401,
  permission_error: 403,
  rate_limit_error: 429,
  rate_limit_exceeded: 429,
  overloaded_error: 503,
  timeout_error: 504,
};
