import { azureAddress } from '../../src/ai/upstream/azure/azure.address.js';
import { OpenAiAdapter } from '../../src/ai/upstream/openai.adapter.js';
import { azureWire } from '../support/fakes/azure.fake.js';
import { startScriptedUpstream } from '../support/scripted-upstream.js';
import { openAiRig } from './provider.openai-rig.js';
import type { ProviderRig, RefusalCase } from './provider.rig.js';

const KEY = 'azure-secret-key-1';

/** Azure OpenAI's v1 API, where the model is the deployment's name. */
export const azureRig: ProviderRig = {
  ...openAiRig,
  kind: 'azure',
  start: async (transport) => {
    const fake = await startScriptedUpstream();
    return {
      adapter: new OpenAiAdapter(transport, azureAddress),
      upstream: {
        name: 'azure',
        keyId: 'azure',
        kind: 'azure',
        baseUrl: fake.url.replace(/\/v1$/, '/openai/v1'),
        apiKey: KEY,
      },
      fake,
      secrets: [KEY],
      close: () => fake.close(),
    };
  },
  wire: {
    ...azureWire,
    address: () => ({ path: '/openai/v1/chat/completions', headers: { 'api-key': KEY } }),
  },
  refusals: azureRefusals(),
};

/** Azure OpenAI under the URLs of before: the deployment's name in the path, and a version. */
export const azureClassicRig: ProviderRig = {
  ...azureRig,
  start: async (transport) => {
    const bench = await azureRig.start(transport);
    const baseUrl = bench.upstream.baseUrl.replace(/\/openai\/v1$/, '');
    return { ...bench, upstream: { ...bench.upstream, baseUrl, apiVersion: '2024-10-21' } };
  },
  wire: {
    ...azureWire,
    address: ({ model }) => ({
      path: `/openai/deployments/${model}/chat/completions?api-version=2024-10-21`,
      headers: { 'api-key': KEY },
    }),
  },
};

/** https://learn.microsoft.com/azure/foundry/openai/reference, and the wordings that are reported of it. */
function azureRefusals(): readonly RefusalCase[] {
  const error = (members: object): unknown => ({ error: { param: null, ...members } });
  return [
    {
      name: 'a request that is wrong',
      status: 400,
      body: error({ message: "Invalid value: 'x'.", type: 'invalid_request_error', code: 'invalid_value' }),
      blame: 'request',
      code: 'invalid_request',
    },
    {
      name: 'a prompt that its filter stops',
      status: 400,
      body: error({
        message: "The response was filtered due to the prompt triggering Azure OpenAI's content management policy.",
        type: null,
        param: 'prompt',
        code: 'content_filter',
        status: 400,
        innererror: {
          code: 'ResponsibleAIPolicyViolation',
          content_filter_result: { hate: { filtered: true, severity: 'high' } },
        },
      }),
      blame: 'request',
      code: 'invalid_request',
    },
    {
      name: 'row 14: a prompt that is too long, without a code',
      status: 400,
      body: error({
        message:
          'Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 509178 tokens. Please reduce the length of the messages.',
        type: 'invalid_request_error',
        code: null,
      }),
      blame: 'request',
      code: 'context_length_exceeded',
    },
    {
      name: 'a prompt that is too long, with its code',
      status: 400,
      body: error({
        message: "This model's maximum context length is 8192 tokens.",
        type: 'invalid_request_error',
        param: 'messages',
        code: 'context_length_exceeded',
      }),
      blame: 'request',
      code: 'context_length_exceeded',
    },
    {
      name: 'a wrong key',
      status: 401,
      body: error({
        code: '401',
        message: 'Access denied due to invalid subscription key or wrong API endpoint.',
      }),
      blame: 'key',
      code: 'upstream_auth',
    },
    {
      name: 'a network that is not let in',
      status: 403,
      body: error({ code: '403', message: 'Access denied due to Virtual Network/Firewall rules.' }),
      blame: 'key',
      code: 'upstream_auth',
    },
    {
      name: 'a deployment that it does not know',
      status: 404,
      body: error({ code: 'DeploymentNotFound', message: 'The API deployment for this resource does not exist.' }),
      blame: 'deployment',
      code: 'upstream_error',
    },
    {
      name: 'row 5: a rate limit, with its wait in milliseconds',
      status: 429,
      headers: { 'retry-after': '60', 'retry-after-ms': '2250' },
      body: error({ code: '429', message: 'Requests have exceeded token rate limit of your current pricing tier.' }),
      blame: 'upstream',
      code: 'rate_limit_exceeded',
      retryAfterMs: 2_250,
    },
    {
      name: 'row 5: a rate limit, with the wait of its gateway',
      status: 429,
      headers: { 'x-ms-retry-after-ms': '1200' },
      body: error({ code: 'RateLimitReached', message: 'Rate limit is exceeded.' }),
      blame: 'upstream',
      code: 'rate_limit_exceeded',
      retryAfterMs: 1_200,
    },
    {
      name: 'row 2: a quota that is used up',
      status: 429,
      body: error({ code: 'insufficient_quota', type: 'insufficient_quota', message: 'You exceeded your quota.' }),
      blame: 'key',
      code: 'insufficient_quota',
    },
    {
      name: 'an answer that took too long',
      status: 408,
      body: error({ code: 'Timeout', message: 'The operation was timeout.' }),
      blame: 'upstream',
      code: 'timeout',
    },
    {
      name: 'an error of its own',
      status: 500,
      body: error({ code: 'InternalServerError', message: 'The server had an error' }),
      blame: 'upstream',
      code: 'upstream_error',
    },
    {
      name: 'an overload',
      status: 503,
      body: error({ code: 'ServiceUnavailable', message: 'The server is currently overloaded' }),
      blame: 'upstream',
      code: 'overloaded',
    },
  ];
}
