import type { RefusalCase } from './provider.rig.js';

const error = (code: number, status: string, message: string, details?: readonly object[]): object => ({
  error: { code, message, status, ...(details && { details }) },
});

const quota = (quotaId: string, quotaValue: string): object => ({
  '@type': 'type.googleapis.com/google.rpc.QuotaFailure',
  violations: [{ quotaMetric: 'aiplatform.googleapis.com/generate_content_requests', quotaId, quotaValue }],
});
const retryIn = (retryDelay: string): object => ({ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay });
const limit = (quotaLimit: string): object => ({
  '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
  reason: 'RATE_LIMIT_EXCEEDED',
  domain: 'googleapis.com',
  metadata: { service: 'aiplatform.googleapis.com', quota_limit: quotaLimit, quota_limit_value: '60' },
});

const EXCEEDED = 'You exceeded your current quota, please check your plan and billing details.';
const TOO_LONG = 'The input token count (1200293) exceeds the maximum number of tokens allowed (1048576).';

/** https://cloud.google.com/vertex-ai/generative-ai/docs/model-reference/api-errors, and the wordings that are reported of it. */
export const vertexRefusals: readonly RefusalCase[] = [
  {
    name: 'a request that is wrong',
    status: 400,
    body: error(400, 'INVALID_ARGUMENT', 'Request contains an invalid argument.'),
    blame: 'request',
    code: 'invalid_request',
  },
  {
    name: 'row 14: a prompt that is too long',
    status: 400,
    body: error(400, 'INVALID_ARGUMENT', TOO_LONG),
    blame: 'request',
    code: 'context_length_exceeded',
  },
  {
    name: 'row 14: a prompt that is too long, in a list, as for a stream',
    status: 400,
    body: [error(400, 'INVALID_ARGUMENT', TOO_LONG)],
    blame: 'request',
    code: 'context_length_exceeded',
  },
  {
    name: 'row 14: a prompt that is too long, in other words',
    status: 400,
    body: error(
      400,
      'INVALID_ARGUMENT',
      'Unable to submit request because the input token count is 1200000 but model only supports up to 1048576. Reduce the input token count and try again.',
    ),
    blame: 'request',
    code: 'context_length_exceeded',
  },
  {
    name: 'a limit on the answer that the model does not reach',
    status: 400,
    body: error(
      400,
      'INVALID_ARGUMENT',
      'Unable to submit request because it has a maxOutputTokens value of 100000 but the supported range is from 1 (inclusive) to 65537 (exclusive).',
    ),
    blame: 'request',
    code: 'invalid_request',
  },
  {
    name: 'a token that it does not take',
    status: 401,
    body: error(401, 'UNAUTHENTICATED', 'Request had invalid authentication credentials.'),
    blame: 'key',
    code: 'upstream_auth',
  },
  {
    name: 'an account without the permission',
    status: 403,
    body: error(403, 'PERMISSION_DENIED', "Permission 'aiplatform.endpoints.predict' denied on resource."),
    blame: 'key',
    code: 'upstream_auth',
  },
  {
    name: 'a model that it does not know',
    status: 404,
    body: error(404, 'NOT_FOUND', 'Publisher Model `gemini-1` was not found.'),
    blame: 'deployment',
    code: 'upstream_error',
  },
  {
    name: 'a shared capacity that is exhausted, without a wait',
    status: 429,
    body: error(429, 'RESOURCE_EXHAUSTED', 'Resource exhausted. Please try again later.'),
    blame: 'upstream',
    code: 'rate_limit_exceeded',
  },
  {
    name: 'row 5: a quota of the minute, with its wait in the body',
    status: 429,
    body: error(429, 'RESOURCE_EXHAUSTED', EXCEEDED, [
      quota('GenerateContentInputTokensPerModelPerMinute', '250000'),
      retryIn('26s'),
    ]),
    blame: 'upstream',
    code: 'rate_limit_exceeded',
    retryAfterMs: 26_000,
  },
  {
    name: 'row 5: a quota of the minute, with a wait that is not whole, in a list',
    status: 429,
    body: [error(429, 'RESOURCE_EXHAUSTED', EXCEEDED, [limit('GenerateContentPerMinute'), retryIn('3.4205s')])],
    blame: 'upstream',
    code: 'rate_limit_exceeded',
    retryAfterMs: 3_421,
  },
  {
    name: 'a wait in both places: the header says it',
    status: 429,
    headers: { 'retry-after': '4' },
    body: error(429, 'RESOURCE_EXHAUSTED', EXCEEDED, [retryIn('26s')]),
    blame: 'upstream',
    code: 'rate_limit_exceeded',
    retryAfterMs: 4_000,
  },
  {
    name: 'row 2: a quota of the day, which no wait helps',
    status: 429,
    body: error(429, 'RESOURCE_EXHAUSTED', EXCEEDED, [
      quota('GenerateRequestsPerDayPerProject', '250'),
      retryIn('36s'),
    ]),
    blame: 'key',
    code: 'insufficient_quota',
  },
  {
    name: 'row 2: a quota of the day, in other words',
    status: 429,
    body: error(429, 'RESOURCE_EXHAUSTED', EXCEEDED, [limit('GenerateContentRequestsPerDay')]),
    blame: 'key',
    code: 'insufficient_quota',
  },
  {
    name: 'a quota of the day for one model: the key still serves for the others',
    status: 429,
    body: error(429, 'RESOURCE_EXHAUSTED', EXCEEDED, [
      quota('GenerateRequestsPerDayPerProjectPerModel', '250'),
      retryIn('36s'),
    ]),
    blame: 'upstream',
    code: 'rate_limit_exceeded',
    retryAfterMs: 3_600_000,
  },
  {
    name: 'a quota of the day for one model, which stands among its dimensions',
    status: 429,
    body: error(429, 'RESOURCE_EXHAUSTED', EXCEEDED, [
      {
        violations: [
          { quotaId: 'GenerateRequestsPerDay', quotaValue: '50', quotaDimensions: { model: 'gemini-2.5-pro' } },
        ],
      },
    ]),
    blame: 'upstream',
    code: 'rate_limit_exceeded',
    retryAfterMs: 3_600_000,
  },
  {
    name: 'a quota of nothing: a model that this account may not use',
    status: 429,
    body: error(429, 'RESOURCE_EXHAUSTED', EXCEEDED, [
      quota('GenerateRequestsPerMinutePerProject', '0'),
      retryIn('36s'),
    ]),
    blame: 'upstream',
    code: 'rate_limit_exceeded',
    retryAfterMs: 3_600_000,
  },
  {
    name: 'an account without a bill, or a region that is not served',
    status: 400,
    body: error(400, 'FAILED_PRECONDITION', 'User location is not supported for the API use.'),
    blame: 'deployment',
    code: 'upstream_error',
  },
  {
    name: 'a key that is none, which is told as a fault of the request',
    status: 400,
    body: error(400, 'INVALID_ARGUMENT', 'API key not valid. Please pass a valid API key.', [
      { '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: 'API_KEY_INVALID', domain: 'googleapis.com' },
    ]),
    blame: 'key',
    code: 'upstream_auth',
  },
  {
    name: 'an error of its own',
    status: 500,
    body: error(500, 'INTERNAL', 'Internal error encountered.'),
    blame: 'upstream',
    code: 'upstream_error',
  },
  {
    name: 'an overload',
    status: 503,
    body: error(503, 'UNAVAILABLE', 'The model is overloaded. Please try again later.'),
    blame: 'upstream',
    code: 'overloaded',
  },
  {
    name: 'an answer that took too long',
    status: 504,
    body: error(504, 'DEADLINE_EXCEEDED', 'Deadline expired before operation could complete.'),
    blame: 'upstream',
    code: 'timeout',
  },
  {
    name: 'a page of its front door',
    status: 502,
    body: '<!DOCTYPE html><html lang=en><title>Error 502 (Server Error)!!1</title></html>',
    blame: 'upstream',
    code: 'upstream_error',
  },
];
