import { late } from './provider.attempts.js';
import type { UntranslatableCase } from './provider.rig.js';

type Request = Readonly<Record<string, unknown>>;

const user = (content: unknown, members: object = {}): Request => ({
  messages: [{ role: 'user', content, ...members }],
});
const assistant = (members: object): Request => ({
  messages: [
    { role: 'user', content: 'Hi' },
    { role: 'assistant', content: 'Hi', ...members },
  ],
});
const tool = (members: object): Request => ({ tools: [members] });
const call = (input: string, members: object = {}): object => ({
  id: 'c',
  type: 'function',
  function: { name: 'f', arguments: input },
  ...members,
});
const image = (url: object): Request => user([{ type: 'image_url', image_url: url }]);
const result = (members: object): Request => ({
  messages: [
    { role: 'user', content: 'Hi' },
    { role: 'assistant', tool_calls: [call('{}')] },
    { role: 'tool', tool_call_id: 'c', content: 'x', ...members },
  ],
});

/** What has no counterpart at Gemini, by the path of the member. */
export const vertexUntranslatable: readonly UntranslatableCase[] = [
  // Names that every object has.
  { members: { constructor: 1 }, param: 'constructor' },
  { members: { toString: true }, param: 'toString' },
  { members: { logit_bias: { 50256: -100 } }, param: 'logit_bias' },
  { members: { store: true }, param: 'store' },
  { members: { metadata: { order: '1' } }, param: 'metadata' },
  { members: { audio: { voice: 'alloy', format: 'mp3' } }, param: 'audio' },
  { members: { modalities: ['text', 'audio'] }, param: 'modalities' },
  { members: { prediction: { type: 'content', content: 'x' } }, param: 'prediction' },
  { members: { web_search_options: {} }, param: 'web_search_options' },
  { members: { verbosity: 'low' }, param: 'verbosity' },
  { members: { prompt_cache_key: 'k' }, param: 'prompt_cache_key' },
  { members: { service_tier: 'flex' }, param: 'service_tier' },
  { members: { parallel_tool_calls: false }, param: 'parallel_tool_calls' },
  { members: { functions: [{ name: 'f' }] }, param: 'functions' },
  { members: { function_call: 'auto' }, param: 'function_call' },
  { members: { a_member_of_next_year: 1 }, param: 'a_member_of_next_year' },
  { members: { user: 'a', safety_identifier: 'b' }, param: 'user' },
  { members: { user: 7 }, param: 'user' },
  { members: { max_tokens: 'many' }, param: 'max_tokens' },
  { members: { reasoning_effort: 'huge' }, param: 'reasoning_effort' },
  { members: { response_format: 'json' }, param: 'response_format' },
  { members: { response_format: { type: 'grammar' } }, param: 'response_format.type' },
  {
    members: { response_format: { type: 'json_schema', json_schema: { name: 'x' } } },
    param: 'response_format.json_schema',
  },
  {
    members: { response_format: { type: 'json_schema', json_schema: { schema: {}, dialect: 'x' } } },
    param: 'response_format.json_schema.dialect',
  },
  { members: { tools: 'all' }, param: 'tools' },
  { members: tool({ type: 'custom', custom: { name: 'x' } }), param: 'tools[0].type' },
  { members: tool({ type: 'function' }), param: 'tools[0].function' },
  { members: tool({ type: 'function', function: {} }), param: 'tools[0].function.name' },
  { members: tool({ type: 'function', function: { name: 'f', extra: 1 } }), param: 'tools[0].function.extra' },
  { members: { tool_choice: 'sometimes' }, param: 'tool_choice' },
  { members: { tool_choice: { type: 'custom', custom: { name: 'x' } } }, param: 'tool_choice' },
  { members: { tool_choice: { type: 'allowed_tools' } }, param: 'tool_choice.allowed_tools' },
  { members: late('system'), param: 'messages[2].role' },
  { members: late('developer'), param: 'messages[2].role' },
  { members: user(''), param: 'messages[0].content' },
  { members: user([]), param: 'messages[0].content' },
  { members: user([{ type: 'text', text: '' }]), param: 'messages[0].content' },
  { members: { messages: [{ role: 'system', content: '' }] }, param: 'messages' },
  { members: { messages: [{ role: 'assistant', content: null }] }, param: 'messages' },
  { members: assistant({ reasoning_content: 7 }), param: 'messages[1].reasoning_content' },
  { members: { stream_options: { foo: 1 } }, param: 'stream_options.foo' },
  { members: { stream_options: { include_obfuscation: false, foo: 1 } }, param: 'stream_options.foo' },
  { members: { logprobs: false, top_logprobs: 3 }, param: 'top_logprobs' },
  { members: { top_logprobs: 3 }, param: 'top_logprobs' },
  { members: image({ url: 'http://x.example/a.png' }), param: 'messages[0].content[0].image_url.url' },
  { members: { messages: 'Hi' }, param: 'messages' },
  { members: { messages: ['Hi'] }, param: 'messages[0]' },
  { members: { messages: [{ role: 'function', name: 'f', content: 'x' }] }, param: 'messages[0].role' },
  { members: user('Hi', { name: 'Ann' }), param: 'messages[0].name' },
  { members: user(7), param: 'messages[0].content' },
  { members: user(['Hi']), param: 'messages[0].content[0]' },
  { members: user([{ type: 'video_url', video_url: {} }]), param: 'messages[0].content[0].type' },
  { members: user([{ type: 'text', text: 1 }]), param: 'messages[0].content[0].text' },
  { members: user([{ type: 'text', text: 'x', tone: 'low' }]), param: 'messages[0].content[0].tone' },
  { members: image({ url: 'https://x.example/image' }), param: 'messages[0].content[0].image_url.url' },
  { members: image({ url: 'ftp://x.example/a.png' }), param: 'messages[0].content[0].image_url.url' },
  { members: image({ url: 'data:image/svg+xml,%E0%A4%A' }), param: 'messages[0].content[0].image_url.url' },
  {
    members: image({ url: 'https://x.example/a.png', detail: 'original' }),
    param: 'messages[0].content[0].image_url.detail',
  },
  { members: user([{ type: 'file', file: { file_id: 'f-1' } }]), param: 'messages[0].content[0].file.file_id' },
  { members: user([{ type: 'input_audio', input_audio: {} }]), param: 'messages[0].content[0].input_audio.format' },
  { members: assistant({ audio: { id: 'a' } }), param: 'messages[1].audio' },
  { members: assistant({ function_call: { name: 'f', arguments: '' } }), param: 'messages[1].function_call' },
  { members: assistant({ content: [{ type: 'image_url', image_url: {} }] }), param: 'messages[1].content[0].type' },
  { members: assistant({ extra_content: { other: {} } }), param: 'messages[1].extra_content.other' },
  { members: assistant({ extra_content: { google: { x: 1 } } }), param: 'messages[1].extra_content.google.x' },
  { members: assistant({ tool_calls: [call('{"a":')] }), param: 'messages[1].tool_calls[0].function.arguments' },
  { members: assistant({ tool_calls: [call('[1]')] }), param: 'messages[1].tool_calls[0].function.arguments' },
  { members: assistant({ tool_calls: [{ type: 'custom', id: 'c' }] }), param: 'messages[1].tool_calls[0].type' },
  { members: assistant({ tool_calls: [call('{}', { extra: 1 })] }), param: 'messages[1].tool_calls[0].extra' },
  { members: result({ tool_call_id: 'd' }), param: 'messages[2].tool_call_id' },
  { members: result({ name: 'g' }), param: 'messages[2].name' },
  { members: result({ content: [{ type: 'image_url', image_url: {} }] }), param: 'messages[2].content[0].type' },
];
