import { AnthropicAdapter } from '../../src/ai/upstream/anthropic/anthropic.adapter.js';
import { anthropicWire } from '../support/fakes/anthropic.fake.js';
import { startScriptedUpstream } from '../support/scripted-upstream.js';
import { anthropicRefusals } from './provider.anthropic-refusals.js';
import { late } from './provider.attempts.js';
import type { ProviderRig, UntranslatableCase, UsageCase } from './provider.rig.js';

const KEY = 'sk-ant-secret-key-1';

export const anthropicRig: ProviderRig = {
  kind: 'anthropic',
  start: async (transport) => {
    const fake = await startScriptedUpstream();
    return {
      adapter: new AnthropicAdapter(transport),
      upstream: { name: 'anthropic', keyId: 'anthropic', kind: 'anthropic', baseUrl: fake.url, apiKey: KEY },
      fake,
      secrets: [KEY],
      close: () => fake.close(),
    };
  },
  wire: {
    ...anthropicWire,
    address: () => ({ path: '/v1/messages', headers: { 'x-api-key': KEY, 'anthropic-version': '2023-06-01' } }),
  },
  refusals: anthropicRefusals,
  // https://platform.claude.com/docs/en/build-with-claude/handling-stop-reasons
  stopReasons: [
    ['end_turn', 'stop'],
    ['stop_sequence', 'stop'],
    ['max_tokens', 'length'],
    ['model_context_window_exceeded', 'length'],
    ['pause_turn', 'length'],
    ['tool_use', 'tool_calls'],
    ['refusal', 'content_filter'],
    ['a_reason_of_next_year', 'stop'],
  ],
  usages: anthropicUsages(),
  untranslatable: anthropicUntranslatable(),
  harmless: [
    { n: 1 },
    { presence_penalty: 0, frequency_penalty: 0 },
    { logprobs: false, logit_bias: {}, store: false },
    { temperature: 1, top_p: 1 },
    { response_format: { type: 'text' } },
    { modalities: ['text'], verbosity: 'medium' },
    { metadata: {}, service_tier: 'auto' },
    { stream_options: { include_usage: true, include_obfuscation: false } },
    { parallel_tool_calls: false },
    { top_k: 40, cache_control: { type: 'ephemeral' } },
  ],
};

/** https://platform.claude.com/docs/en/build-with-claude/prompt-caching: all of the prompt is the sum of three counts. */
function anthropicUsages(): readonly UsageCase[] {
  const prices = { input: 3, cachedInput: 0.3, cacheWrite: 3.75, cacheWrite1h: 6, output: 15 };
  return [
    {
      name: 'a part of the prompt from the cache',
      native: {
        input_tokens: 50,
        cache_creation_input_tokens: 0,
        cache_read_input_tokens: 100_000,
        output_tokens: 503,
      },
      usage: {
        prompt_tokens: 100_050,
        completion_tokens: 503,
        total_tokens: 100_553,
        prompt_tokens_details: { cached_tokens: 100_000, cache_write_tokens: 0 },
      },
      prices,
      // 50 x 3 + 100,000 x 0.3 + 503 x 15 = 37,695 millionths
      costUsd: 0.037695,
    },
    {
      name: 'a part of the prompt to the cache, for five minutes and for an hour',
      native: {
        input_tokens: 2_048,
        cache_creation_input_tokens: 7_248,
        cache_read_input_tokens: 1_800,
        cache_creation: { ephemeral_5m_input_tokens: 4_200, ephemeral_1h_input_tokens: 3_048 },
        output_tokens: 503,
      },
      usage: {
        prompt_tokens: 11_096,
        completion_tokens: 503,
        total_tokens: 11_599,
        prompt_tokens_details: { cached_tokens: 1_800, cache_write_tokens: 7_248, cache_write_1h_tokens: 3_048 },
      },
      prices,
      // 2,048 x 3 + 1,800 x 0.3 + 4,200 x 3.75 + 3,048 x 6 + 503 x 15 = 48,267 millionths
      costUsd: 0.048267,
    },
    {
      name: 'no cache at all, and nulls in place of counts',
      native: {
        input_tokens: 2_095,
        cache_creation_input_tokens: null,
        cache_read_input_tokens: null,
        output_tokens: 7,
        output_tokens_details: { thinking_tokens: 4 },
      },
      usage: {
        prompt_tokens: 2_095,
        completion_tokens: 7,
        total_tokens: 2_102,
        prompt_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
        completion_tokens_details: { reasoning_tokens: 4 },
      },
      prices,
      costUsd: 0.00639,
    },
  ];
}

function anthropicUntranslatable(): readonly UntranslatableCase[] {
  const user = (content: unknown): Readonly<Record<string, unknown>> => ({ messages: [{ role: 'user', content }] });
  const assistant = (members: object): Readonly<Record<string, unknown>> => ({
    messages: [
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: 'Hi', ...members },
    ],
  });
  const tool = (members: object): Readonly<Record<string, unknown>> => ({ tools: [members] });
  const call = (input: string): object => ({ id: 'c', type: 'function', function: { name: 'f', arguments: input } });
  return [
    { members: { logit_bias: { 50256: -100 } }, param: 'logit_bias' },
    // Names that every object has.
    { members: { constructor: 1 }, param: 'constructor' },
    { members: { service_tier: 'constructor' }, param: 'service_tier' },
    { members: { logprobs: true }, param: 'logprobs' },
    { members: { top_logprobs: 3 }, param: 'top_logprobs' },
    { members: { n: 2 }, param: 'n' },
    { members: { seed: 1 }, param: 'seed' },
    { members: { presence_penalty: 0.5 }, param: 'presence_penalty' },
    { members: { frequency_penalty: -0.1 }, param: 'frequency_penalty' },
    { members: { store: true }, param: 'store' },
    { members: { audio: { voice: 'alloy', format: 'mp3' } }, param: 'audio' },
    { members: { modalities: ['text', 'audio'] }, param: 'modalities' },
    { members: { prediction: { type: 'content', content: 'x' } }, param: 'prediction' },
    { members: { web_search_options: {} }, param: 'web_search_options' },
    { members: { verbosity: 'low' }, param: 'verbosity' },
    { members: { prompt_cache_key: 'k' }, param: 'prompt_cache_key' },
    { members: { functions: [{ name: 'f' }] }, param: 'functions' },
    { members: { function_call: 'auto' }, param: 'function_call' },
    { members: { a_member_of_next_year: 1 }, param: 'a_member_of_next_year' },
    { members: { speed: 'fast' }, param: 'speed' },
    { members: { temperature: 1.5 }, param: 'temperature' },
    { members: { top_p: '1' }, param: 'top_p' },
    { members: { stop: ['END', '\n'] }, param: 'stop' },
    { members: { service_tier: 'flex' }, param: 'service_tier' },
    { members: { metadata: { order: '1' } }, param: 'metadata.order' },
    { members: { user: 'a', safety_identifier: 'b' }, param: 'user' },
    { members: { stream_options: { include_obfuscation: true } }, param: 'stream_options.include_obfuscation' },
    { members: { response_format: { type: 'json_object' } }, param: 'response_format.type' },
    {
      members: { response_format: { type: 'json_schema', json_schema: { name: 'x' } } },
      param: 'response_format.json_schema',
    },
    { members: { reasoning_effort: 'huge' }, param: 'reasoning_effort' },
    { members: { reasoning_effort: 'low', thinking: { type: 'disabled' } }, param: 'reasoning_effort' },
    { members: { max_tokens: 'many' }, param: 'max_tokens' },
    { members: tool({ type: 'custom', custom: { name: 'x' } }), param: 'tools[0].type' },
    {
      members: tool({ type: 'function', function: { name: 'f', parameters: 1 } }),
      param: 'tools[0].function.parameters',
    },
    { members: tool({ type: 'function', function: { name: 'f', extra: 1 } }), param: 'tools[0].function.extra' },
    { members: { tool_choice: { type: 'allowed_tools' } }, param: 'tool_choice.type' },
    { members: { tool_choice: 'sometimes' }, param: 'tool_choice' },
    { members: { messages: 'Hi' }, param: 'messages' },
    { members: { messages: ['Hi'] }, param: 'messages[0]' },
    { members: { messages: [{ role: 'function', name: 'f', content: 'x' }] }, param: 'messages[0].role' },
    { members: { messages: [{ role: 'user', name: 'Ann', content: 'Hi' }] }, param: 'messages[0].name' },
    { members: user(7), param: 'messages[0].content' },
    { members: user([{ type: 'input_audio', input_audio: {} }]), param: 'messages[0].content[0].type' },
    { members: user([{ type: 'text', text: 1 }]), param: 'messages[0].content[0].text' },
    { members: user([{ type: 'text', text: 'x', tone: 'low' }]), param: 'messages[0].content[0].tone' },
    { members: image({ url: 'http://x.example/a.png' }), param: 'messages[0].content[0].image_url.url' },
    { members: image({ url: 'data:image/tiff;base64,AAAA' }), param: 'messages[0].content[0].image_url.url' },
    {
      members: image({ url: 'https://x.example/a.png', detail: 'low' }),
      param: 'messages[0].content[0].image_url.detail',
    },
    { members: user([{ type: 'file', file: { file_id: 'f-1' } }]), param: 'messages[0].content[0].file.file_id' },
    { members: assistant({ audio: { id: 'a' } }), param: 'messages[1].audio' },
    { members: assistant({ function_call: { name: 'f', arguments: '' } }), param: 'messages[1].function_call' },
    { members: assistant({ reasoning_content: 7 }), param: 'messages[1].reasoning_content' },
    { members: user(''), param: 'messages[0].content' },
    { members: user([]), param: 'messages[0].content' },
    { members: user([{ type: 'text', text: ' \n' }]), param: 'messages[0].content' },
    { members: { messages: [{ role: 'system', content: '' }] }, param: 'messages' },
    { members: { messages: [{ role: 'assistant', content: null }] }, param: 'messages' },
    { members: late('system'), param: 'messages[2].role' },
    { members: late('developer'), param: 'messages[2].role' },
    { members: assistant({ tool_calls: [call('{"a":')] }), param: 'messages[1].tool_calls[0].function.arguments' },
    { members: assistant({ tool_calls: [call('[1]')] }), param: 'messages[1].tool_calls[0].function.arguments' },
  ];
}

function image(url: object): Readonly<Record<string, unknown>> {
  return { messages: [{ role: 'user', content: [{ type: 'image_url', image_url: url }] }] };
}
