import { OpenAiAdapter } from '../../src/ai/upstream/openai.adapter.js';
import { openAiWire } from '../support/fakes/openai.fake.js';
import { startScriptedUpstream } from '../support/scripted-upstream.js';
import type { ProviderRig, RefusalCase, UsageCase } from './provider.rig.js';

const KEY = 'openai-secret-key-1';

/** OpenAI and all that is compatible with it. */
export const openAiRig: ProviderRig = {
  kind: 'openai',
  start: async (transport) => {
    const fake = await startScriptedUpstream();
    return {
      adapter: new OpenAiAdapter(transport),
      upstream: { name: 'openai', keyId: 'openai', kind: 'openai', baseUrl: fake.url, apiKey: KEY },
      fake,
      secrets: [KEY],
      close: () => fake.close(),
    };
  },
  wire: {
    ...openAiWire,
    address: () => ({ path: '/v1/chat/completions', headers: { authorization: `Bearer ${KEY}` } }),
  },
  refusals: openAiRefusals(),
  stopReasons: [
    ['stop', 'stop'],
    ['length', 'length'],
    ['tool_calls', 'tool_calls'],
    ['content_filter', 'content_filter'],
  ],
  usages: openAiUsages(),
  untranslatable: [],
  harmless: [{ n: 1 }, { logit_bias: {} }, { store: false }],
};

/** https://platform.openai.com/docs/guides/error-codes, and what compatible providers answer. */
function openAiRefusals(): readonly RefusalCase[] {
  const error = (message: string, type: string, code: string | null = null): unknown => ({
    error: { message, type, param: null, code },
  });
  const long = "This model's maximum context length is 1047576 tokens.";
  return [
    {
      name: 'a request that is wrong',
      status: 400,
      body: error("Invalid value: 'x'.", 'invalid_request_error', 'invalid_value'),
      blame: 'request',
      code: 'invalid_request',
    },
    {
      name: 'a prompt that is too long',
      status: 400,
      body: error(long, 'invalid_request_error', 'context_length_exceeded'),
      blame: 'request',
      code: 'context_length_exceeded',
    },
    {
      name: 'a body that is too large',
      status: 413,
      body: '<html>413 Request Entity Too Large</html>',
      blame: 'request',
      code: 'request_too_large',
    },
    {
      name: 'a parameter that DeepSeek refuses',
      status: 422,
      body: error('Invalid parameters', 'invalid_request_error'),
      blame: 'request',
      code: 'unprocessable',
    },
    {
      name: 'a wrong key',
      status: 401,
      body: error('Incorrect API key provided', 'invalid_request_error', 'invalid_api_key'),
      blame: 'key',
      code: 'upstream_auth',
    },
    {
      name: 'a region that is not served',
      status: 403,
      body: error('Country not supported', 'request_forbidden', 'unsupported_country_region_territory'),
      blame: 'key',
      code: 'upstream_auth',
    },
    {
      name: 'a model that this account may not use: the key still serves for others',
      status: 403,
      body: error('Project `proj_1` does not have access to model `o3`', 'invalid_request_error', 'model_not_found'),
      blame: 'deployment',
      code: 'upstream_error',
    },
    {
      name: 'a prompt that a moderator refuses, at OpenRouter',
      status: 403,
      body: {
        error: {
          code: 403,
          message: 'Your input was flagged',
          metadata: { reasons: ['violence'], flagged_input: 'x', provider_name: 'OpenAI', model_slug: 'openai/o3' },
        },
      },
      blame: 'request',
      code: 'invalid_request',
    },
    {
      name: 'a refusal by a provider behind it, at OpenRouter',
      status: 403,
      body: { error: { code: 403, message: 'Provider returned error', metadata: { provider_name: 'X', raw: '{}' } } },
      blame: 'deployment',
      code: 'upstream_error',
    },
    {
      name: 'a key that is none, at Google, in a list',
      status: 400,
      body: [
        {
          error: {
            code: 400,
            message: 'API key not valid. Please pass a valid API key.',
            status: 'INVALID_ARGUMENT',
            details: [{ '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: 'API_KEY_INVALID' }],
          },
        },
      ],
      blame: 'key',
      code: 'upstream_auth',
    },
    {
      name: 'a region that is not served, at Google, in a list',
      status: 400,
      body: [{ error: { code: 400, message: 'User location is not supported.', status: 'FAILED_PRECONDITION' } }],
      blame: 'deployment',
      code: 'upstream_error',
    },
    {
      name: 'row 2: a quota that is used up',
      status: 429,
      body: error('You exceeded your current quota', 'insufficient_quota', 'insufficient_quota'),
      blame: 'key',
      code: 'insufficient_quota',
    },
    {
      name: 'a balance that is used up, at DeepSeek',
      status: 402,
      body: error('Insufficient Balance', 'unknown_error', 'invalid_request_error'),
      blame: 'key',
      code: 'insufficient_quota',
    },
    {
      name: 'row 5: a rate limit, with its wait in seconds',
      status: 429,
      headers: { 'retry-after': '7' },
      body: error('Rate limit reached', 'requests', 'rate_limit_exceeded'),
      blame: 'upstream',
      code: 'rate_limit_exceeded',
      retryAfterMs: 7_000,
    },
    {
      name: 'a rate limit without a wait',
      status: 429,
      body: error('Rate limit reached', 'tokens', 'rate_limit_exceeded'),
      blame: 'upstream',
      code: 'rate_limit_exceeded',
    },
    {
      name: 'a model that it does not know',
      status: 404,
      body: error('The model does not exist', 'invalid_request_error', 'model_not_found'),
      blame: 'deployment',
      code: 'upstream_error',
    },
    {
      name: 'an error of its own',
      status: 500,
      body: error('The server had an error', 'server_error'),
      blame: 'upstream',
      code: 'upstream_error',
    },
    {
      name: 'an overload',
      status: 503,
      headers: { 'retry-after-ms': '1500' },
      body: error('The engine is currently overloaded', 'server_error'),
      blame: 'upstream',
      code: 'overloaded',
      retryAfterMs: 1_500,
    },
    {
      name: 'a gateway that waited too long',
      status: 504,
      body: 'upstream timed out',
      blame: 'upstream',
      code: 'timeout',
    },
  ];
}

function openAiUsages(): readonly UsageCase[] {
  const prices = { input: 2, cachedInput: 0.5, output: 8 };
  const cached = {
    prompt_tokens: 2_006,
    completion_tokens: 300,
    total_tokens: 2_306,
    prompt_tokens_details: { cached_tokens: 1_920, audio_tokens: 0 },
    completion_tokens_details: { reasoning_tokens: 192, audio_tokens: 0 },
  };
  const plain = { prompt_tokens: 3, completion_tokens: 1, total_tokens: 4 };
  // 86 x 2 + 1,920 x 0.5 + 300 x 8 = 3,532 millionths
  return [
    { name: 'a part of the prompt from its cache', native: cached, usage: cached, prices, costUsd: 0.003532 },
    { name: 'nothing but the two counts', native: plain, usage: plain, prices, costUsd: 0.000014 },
  ];
}
