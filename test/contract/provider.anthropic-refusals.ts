import type { RefusalCase } from './provider.rig.js';

const error = (type: string, message: string, details?: object): unknown => ({
  type: 'error',
  error: { type, message, ...(details && { details }) },
  request_id: 'req_011CSHoEeqs5C35K2UUqR7Fy',
});

/** https://platform.claude.com/docs/en/api/errors, and the wordings that are reported of it. */
export const anthropicRefusals: readonly RefusalCase[] = [
  {
    name: 'a request that is wrong',
    status: 400,
    body: error('invalid_request_error', 'messages.0.content: Input should be a valid list'),
    blame: 'request',
    code: 'invalid_request',
  },
  {
    name: 'row 14: a prompt that is too long',
    status: 400,
    body: error('invalid_request_error', 'prompt is too long: 208656 tokens > 200000 maximum'),
    blame: 'request',
    code: 'context_length_exceeded',
  },
  {
    name: 'row 14: a prompt that leaves no room for the answer',
    status: 400,
    body: error(
      'invalid_request_error',
      'input length and `max_tokens` exceed context limit: 178959 + 64000 > 200000, decrease input length or `max_tokens` and try again',
    ),
    blame: 'request',
    code: 'context_length_exceeded',
  },
  {
    name: 'a limit on the answer that the model does not reach',
    status: 400,
    body: error(
      'invalid_request_error',
      'max_tokens: 100000 > 64000, which is the maximum allowed number of output tokens',
    ),
    blame: 'request',
    code: 'invalid_request',
  },
  {
    name: 'a balance that is used up',
    status: 400,
    body: error('invalid_request_error', 'Your credit balance is too low to access the Anthropic API.'),
    blame: 'key',
    code: 'insufficient_quota',
  },
  {
    name: 'a wrong key',
    status: 401,
    body: error('authentication_error', 'invalid x-api-key'),
    blame: 'key',
    code: 'upstream_auth',
  },
  {
    name: 'a bill that is not paid',
    status: 402,
    body: error('billing_error', 'There is an issue with your billing or payment information.'),
    blame: 'key',
    code: 'insufficient_quota',
  },
  {
    name: 'a key without the permission',
    status: 403,
    body: error('permission_error', 'Your API key does not have permission to use the specified resource.'),
    blame: 'key',
    code: 'upstream_auth',
  },
  {
    name: 'a model that it does not know',
    status: 404,
    body: error('not_found_error', 'model: claude-1'),
    blame: 'deployment',
    code: 'upstream_error',
  },
  {
    name: 'a request that is too large',
    status: 413,
    body: error('request_too_large', 'Request exceeds the maximum size'),
    blame: 'request',
    code: 'request_too_large',
  },
  {
    name: 'row 5: a rate limit, with its wait',
    status: 429,
    headers: { 'retry-after': '13', 'anthropic-ratelimit-requests-remaining': '0' },
    body: error('rate_limit_error', 'This request would exceed your rate limit of 50 requests per minute'),
    blame: 'upstream',
    code: 'rate_limit_exceeded',
    retryAfterMs: 13_000,
  },
  {
    name: 'row 2: a spend limit that is reached, which no wait helps',
    status: 429,
    body: error('rate_limit_error', 'You have reached your specified API usage limits.', {
      error_code: 'enforced_spend_limit_reached',
    }),
    blame: 'key',
    code: 'insufficient_quota',
  },
  {
    name: 'an error of its own',
    status: 500,
    body: error('api_error', 'Internal server error'),
    blame: 'upstream',
    code: 'upstream_error',
  },
  {
    name: 'an answer that took too long',
    status: 504,
    body: error('timeout_error', 'Request timed out'),
    blame: 'upstream',
    code: 'timeout',
  },
  {
    name: 'row 13: an overload',
    status: 529,
    body: error('overloaded_error', 'Overloaded'),
    blame: 'upstream',
    code: 'overloaded',
  },
  {
    name: 'a page of its front door',
    status: 502,
    body: '<html><head><title>502 Bad Gateway</title></head></html>',
    blame: 'upstream',
    code: 'upstream_error',
  },
];
