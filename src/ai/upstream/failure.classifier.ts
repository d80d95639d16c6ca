import type { ApiErrorOptions, ErrorCode } from '../../http/index.js';
import { isObject, member } from '../wire/json-value.js';
import { saysContextOverflow } from './context-overflow.js';
import { retryAfterMs, type UpstreamHeaders } from './retry-after.js';
import { UpstreamFailure } from './upstream-failure.js';

/** An error as a provider words it. */
interface ProviderError {
  readonly message?: string;
  readonly type?: string;
  readonly code?: string;
  readonly param?: string;
}

/** Who failed, and with which key of ours. */
export interface FailedProvider {
  /** For messages. */
  readonly name: string;
  /** Taken out of the provider's words: some quote what they were sent, and a caller reads it. */
  readonly apiKey: string;
  /** How it says that a prompt is too long, besides the usual words. */
  readonly contextErrorPatterns?: readonly RegExp[];
}

export interface FailedAnswer {
  readonly provider: FailedProvider;
  readonly status: number;
  readonly headers: UpstreamHeaders;
  /** The answer's body, parsed where it is JSON. */
  readonly body: unknown;
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

const MESSAGE_LIMIT = 2_000;
const PARAM_LIMIT = 200;
/** A code is a word for machines; anything else in its place, the status among it (vLLM, Azure), does not go on. */
const CODE = /^(?!\d+$)[\w.:-]{1,64}$/;

/** Codes and types of a prompt that is too long: OpenAI's, which many have taken over, and llama.cpp's. */
const OVERFLOW = /^(context_length_exceeded|exceed_context_size_error)$/;

/**
 * Turns a provider's refusal into a failure with its blame, by status and structured code: wordings differ between providers and
 * change (one answers a concurrency limit with "INSUFFICIENT QUOTA"). Only for a request that is larger than the window there is often
 * no code, and then the words decide between two faults of the same request.
 */
export function classifyAnswer(answer: FailedAnswer): UpstreamFailure {
  const { status, provider } = answer;
  const error = providerError(answer.body, provider);
  if (isExhausted(status, error)) {
    return new UpstreamFailure('key', 'insufficient_quota', `the quota bought from ${provider.name} is used up`);
  }
  // llama.cpp has said it with a 500 too.
  const fault = isOverflowCode(error) ? 'context_length_exceeded' : REQUEST_FAULTS[status];
  if (fault !== undefined) return requestFault(fault, provider, error);
  if (status === 401 || status === 403) {
    return new UpstreamFailure('key', 'upstream_auth', `${provider.name} refused this service's credentials`);
  }
  if (status === 404) {
    const message = `${provider.name} does not know the model or the path that it is configured with`;
    return new UpstreamFailure('upstream', 'upstream_error', message, { isRetryable: false });
  }
  return upstreamFault(answer);
}

/** An error object that came inside a 200: as the first frame, mid-stream, or as the whole body. */
export function classifyInBand(provider: FailedProvider, body: unknown, now: number): UpstreamFailure {
  const error = providerError(body, provider);
  const status = statusOf(body, error);
  if (status === undefined && !isExhausted(200, error)) {
    return new UpstreamFailure('upstream', 'upstream_error', `${provider.name} sent an error in place of an answer`);
  }
  return classifyAnswer({ provider, status: status ?? 500, headers: {}, body, now });
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

function isExhausted(status: number, { code, type }: ProviderError): boolean {
  return status === 402 || EXHAUSTED.test(code ?? '') || EXHAUSTED.test(type ?? '');
}

function requestFault(fault: ErrorCode, provider: FailedProvider, error: ProviderError): UpstreamFailure {
  const message = error.message ?? `${provider.name} refused the request`;
  const param = error.param === undefined ? {} : { param: error.param.slice(0, PARAM_LIMIT) };
  // Under the one code that clients know for it, whatever the provider calls it.
  if (fault === 'context_length_exceeded' || saysOverflow(error, provider))
    return new UpstreamFailure('request', 'context_length_exceeded', message, param);
  const reported = error.code !== undefined && CODE.test(error.code) ? { reportedCode: error.code } : {};
  return new UpstreamFailure('request', fault, message, { ...param, ...reported });
}

function isOverflowCode({ code, type }: ProviderError): boolean {
  return OVERFLOW.test(code ?? '') || OVERFLOW.test(type ?? '');
}

function saysOverflow({ message }: ProviderError, { contextErrorPatterns }: FailedProvider): boolean {
  return message !== undefined && saysContextOverflow(message, contextErrorPatterns);
}

function upstreamFault({ status, headers, provider: { name }, now }: FailedAnswer): UpstreamFailure {
  const wait = retryAfterMs(headers, now);
  const options: ApiErrorOptions = wait === undefined ? {} : { retryAfterMs: wait };
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
  return STATUS_OF_TYPE[error.type ?? ''] ?? STATUS_OF_TYPE[error.code ?? ''];
}

const STATUS_OF_TYPE: Readonly<Partial<Record<string, number>>> = {
  invalid_request_error: 400,
  context_length_exceeded: 400,
  exceed_context_size_error: 400,
  content_filter: 400,
  authentication_error: 401,
  permission_error: 403,
  rate_limit_error: 429,
  rate_limit_exceeded: 429,
  overloaded_error: 503,
  timeout_error: 504,
};

function providerError(body: unknown, { apiKey }: FailedProvider): ProviderError {
  const error = member(body, 'error') ?? body;
  const said = (value: unknown): string | undefined => withoutKey(text(value), apiKey);
  // Words only from within the protocol: a page of HTML is no message.
  const message = said(member(error, 'message')) ?? (error === body ? undefined : said(error));
  const type = said(member(error, 'type'));
  const code = said(member(error, 'code'));
  const param = said(member(error, 'param'));
  return {
    ...(message !== undefined && { message: message.slice(0, MESSAGE_LIMIT) }),
    ...(type !== undefined && { type }),
    ...(code !== undefined && { code }),
    ...(param !== undefined && { param }),
  };
}

/** A key as short as a word (`none`, for a server that wants no key) is no secret, and would be taken out of ordinary words. */
function withoutKey(words: string | undefined, apiKey: string): string | undefined {
  return apiKey.length < 6 ? words : words?.replaceAll(apiKey, '[redacted]');
}

function text(value: unknown): string | undefined {
  if (typeof value === 'number') return String(value);
  return typeof value === 'string' && value !== '' ? value : undefined;
}
