import { VertexAdapter } from '../../src/ai/upstream/vertex/vertex.adapter.js';
import { vertexWire } from '../support/fakes/vertex.fake.js';
import { granting, PRIVATE_KEY, serviceAccount, startTokenServer } from '../support/fakes/vertex.tokens.js';
import { startScriptedUpstream } from '../support/scripted-upstream.js';
import type { ProviderRig, UsageCase } from './provider.rig.js';
import { vertexRefusals } from './provider.vertex-refusals.js';
import { vertexUntranslatable } from './provider.vertex-untranslatable.js';

const TOKEN = 'ya29.vertex-secret-token-1';

/** Gemini on Vertex AI, with the key of a service account. */
export const vertexRig: ProviderRig = {
  kind: 'vertex',
  start: async (transport) => {
    const fake = await startScriptedUpstream();
    const tokens = await startTokenServer(granting(() => TOKEN));
    return {
      adapter: new VertexAdapter(transport),
      upstream: {
        name: 'vertex',
        keyId: 'vertex',
        kind: 'vertex',
        baseUrl: `${fake.url}/projects/p1/locations/global`,
        apiKey: serviceAccount(tokens.origin),
      },
      fake,
      secrets: [TOKEN, PRIVATE_KEY, JSON.stringify(PRIVATE_KEY).slice(1, -1)],
      close: async () => {
        await fake.close();
        await tokens.close();
      },
    };
  },
  wire: {
    ...vertexWire,
    address: ({ model, isStream }) => ({
      path: `/v1/projects/p1/locations/global/publishers/google/models/${model}:${isStream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
      headers: { authorization: `Bearer ${TOKEN}` },
    }),
  },
  refusals: vertexRefusals,
  stopReasons: [
    ['STOP', 'stop'],
    ['MAX_TOKENS', 'length'],
    ['SAFETY', 'content_filter'],
    ['RECITATION', 'content_filter'],
    ['BLOCKLIST', 'content_filter'],
    ['PROHIBITED_CONTENT', 'content_filter'],
    ['SPII', 'content_filter'],
    ['LANGUAGE', 'content_filter'],
    ['MODEL_ARMOR', 'content_filter'],
  ],
  usages: vertexUsages(),
  untranslatable: vertexUntranslatable,
  harmless: [
    { n: 1 },
    { presence_penalty: 0, frequency_penalty: 0 },
    { logprobs: false, top_logprobs: 0, logit_bias: {}, store: false },
    { response_format: { type: 'text' } },
    { modalities: ['text'], verbosity: 'medium' },
    { metadata: {}, service_tier: 'auto' },
    { service_tier: 'default', parallel_tool_calls: true, functions: [] },
    { stream_options: { include_usage: true, include_obfuscation: false } },
    { tools: [], stop: [] },
    { user: 'user-1' },
    { user: 'Ann <ann@example.com>' },
    { safety_identifier: 'user-1', user: 'user-1' },
  ],
};

/** The prompt's count holds what came from the cache; what was thought is paid beside what was said. */
function vertexUsages(): readonly UsageCase[] {
  const prices = { input: 0.3, cachedInput: 0.03, output: 2.5 };
  return [
    {
      name: 'a part of the prompt from the cache, and thoughts',
      native: {
        promptTokenCount: 10_000,
        cachedContentTokenCount: 8_192,
        candidatesTokenCount: 150,
        thoughtsTokenCount: 850,
        totalTokenCount: 11_000,
        trafficType: 'ON_DEMAND',
        cacheTokensDetails: [{ modality: 'TEXT', tokenCount: 8_192 }],
        promptTokensDetails: [{ modality: 'TEXT', tokenCount: 10_000 }],
        candidatesTokensDetails: [{ modality: 'TEXT', tokenCount: 150 }],
      },
      usage: {
        prompt_tokens: 10_000,
        completion_tokens: 1_000,
        total_tokens: 11_000,
        prompt_tokens_details: { cached_tokens: 8_192 },
        completion_tokens_details: { reasoning_tokens: 850 },
      },
      prices,
      // 1,808 x 0.3 + 8,192 x 0.03 + 1,000 x 2.5 = 3,288.16 millionths
      costUsd: 0.00328816,
    },
    {
      name: 'the results of tools that ran there, and what was heard',
      native: {
        promptTokenCount: 300,
        toolUsePromptTokenCount: 45,
        candidatesTokenCount: 20,
        totalTokenCount: 365,
        promptTokensDetails: [
          { modality: 'TEXT', tokenCount: 44 },
          { modality: 'AUDIO', tokenCount: 256 },
        ],
      },
      usage: {
        prompt_tokens: 345,
        completion_tokens: 20,
        total_tokens: 365,
        prompt_tokens_details: { cached_tokens: 0, audio_tokens: 256 },
        completion_tokens_details: { reasoning_tokens: 0 },
      },
      prices,
      // 345 x 0.3 + 20 x 2.5 = 153.5 millionths
      costUsd: 0.0001535,
    },
    {
      name: 'nothing that was said: the count is left out',
      native: { promptTokenCount: 12, totalTokenCount: 12 },
      usage: {
        prompt_tokens: 12,
        completion_tokens: 0,
        total_tokens: 12,
        prompt_tokens_details: { cached_tokens: 0 },
        completion_tokens_details: { reasoning_tokens: 0 },
      },
      prices,
      costUsd: 0.0000036,
    },
  ];
}
