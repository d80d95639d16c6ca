import { describe, expect, it } from '@jest/globals';
import type OpenAI from 'openai';
import { messagesRequest } from '../../../src/ai/upstream/anthropic/request.translator.js';
import { UntranslatableError } from '../../../src/ai/upstream/untranslatable.error.js';
import { geminiRequest } from '../../../src/ai/upstream/vertex/gemini.request.js';
import { writeJson } from '../../../src/ai/wire/raw-json.js';

type Request = OpenAI.ChatCompletionCreateParamsStreaming;
type Json = Readonly<Record<string, unknown>>;

/**
 * What becomes of a value: `told` in the provider's words; `silent`, for it asks for nothing that the answer would lack; or refused by
 * the path of the member, written here.
 */
type Fate = 'told' | 'silent' | `!${string}`;

/** A request that has the member, and its fate at Anthropic and at Vertex AI. */
type Row = readonly [members: Json, anthropic: Fate, vertex: Fate];

const hi = { role: 'user', content: 'Hi' };
const messages = (...told: readonly unknown[]): Json => ({ messages: [...told] });
const part = (told: Json): Json => messages({ role: 'user', content: [{ type: 'text', text: 'Hi' }, told] });
const at = 'messages[0].content[1]';
const image = (told: Json): Json => part({ type: 'image_url', image_url: { url: 'https://x.example/a.png', ...told } });
const file = (told: Json): Json =>
  part({ type: 'file', file: { file_data: 'data:application/pdf;base64,JVBERi0=', ...told } });
const fn = { name: 'f' };
const tool = (told: Json): Json => ({ tools: [{ type: 'function', function: { ...fn, ...told } }] });
const choice = (told: unknown): Json => ({ ...tool({}), tool_choice: told });
const allowed = (told: Json): Json =>
  choice({
    type: 'allowed_tools',
    allowed_tools: { mode: 'auto', tools: [{ type: 'function', function: fn }], ...told },
  });
const call = { id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } };
const answered = (told: Json): Json => messages(hi, { role: 'assistant', content: 'Hello', ...told });
const called = (told: Json): Json =>
  messages(hi, { role: 'assistant', tool_calls: [call] }, { role: 'tool', tool_call_id: 'c', content: 'x', ...told });
const schema = { type: 'object', properties: {} };
const formed = (told: Json): Json => ({
  response_format: { type: 'json_schema', json_schema: { name: 'n', schema, ...told } },
});
const breakpoint = { prompt_cache_breakpoint: { mode: 'explicit' } };
const both = (members: Json, fate: Fate): Row => [members, fate, fate];

/** Every member of OpenAI's request, by its name: one that the client's next version adds does not compile until it stands here. */
const TABLE: Readonly<Record<keyof Request, readonly Row[]>> = {
  model: [both({ model: 'any' }, 'silent')],
  stream: [both({ stream: true }, 'silent')],
  stream_options: [
    both({ stream_options: { include_usage: true } }, 'silent'),
    both({ stream_options: { include_obfuscation: false } }, 'silent'),
    both({ stream_options: { include_obfuscation: true } }, '!stream_options.include_obfuscation'),
    both({ stream_options: { include_obfuscation: false, foo: 1 } }, '!stream_options.foo'),
    both({ stream_options: { foo: 1 } }, '!stream_options.foo'),
  ],
  max_tokens: [both({ max_tokens: 9 }, 'told'), both({ max_tokens: '9' }, '!max_tokens')],
  max_completion_tokens: [both({ max_completion_tokens: 9 }, 'told')],
  temperature: [
    [{ temperature: 1 }, 'silent', 'told'],
    both({ temperature: 0.5 }, 'told'),
    [{ temperature: 2 }, '!temperature', 'told'],
  ],
  top_p: [[{ top_p: 1 }, 'silent', 'told'], both({ top_p: 0.5 }, 'told')],
  stop: [
    both({ stop: 'END' }, 'told'),
    both({ stop: ['END'] }, 'told'),
    both({ stop: [] }, 'silent'),
    both({ stop: [7] }, '!stop'),
  ],
  n: [both({ n: 1 }, 'silent'), [{ n: 2 }, '!n', 'told']],
  seed: [[{ seed: 1 }, '!seed', 'told']],
  presence_penalty: [both({ presence_penalty: 0 }, 'silent'), [{ presence_penalty: 1 }, '!presence_penalty', 'told']],
  frequency_penalty: [
    both({ frequency_penalty: 0 }, 'silent'),
    [{ frequency_penalty: 1 }, '!frequency_penalty', 'told'],
  ],
  logit_bias: [both({ logit_bias: {} }, 'silent'), both({ logit_bias: { 1: 1 } }, '!logit_bias')],
  logprobs: [both({ logprobs: false }, 'silent'), [{ logprobs: true }, '!logprobs', 'told']],
  top_logprobs: [
    both({ top_logprobs: 0 }, 'silent'),
    both({ top_logprobs: 3 }, '!top_logprobs'),
    both({ logprobs: false, top_logprobs: 3 }, '!top_logprobs'),
    [{ logprobs: true, top_logprobs: 3 }, '!logprobs', 'told'],
  ],
  reasoning_effort: [
    both({ reasoning_effort: 'low' }, 'told'),
    both({ reasoning_effort: 'huge' }, '!reasoning_effort'),
  ],
  verbosity: [both({ verbosity: 'medium' }, 'silent'), both({ verbosity: 'low' }, '!verbosity')],
  modalities: [both({ modalities: ['text'] }, 'silent'), both({ modalities: ['text', 'audio'] }, '!modalities')],
  audio: [both({ audio: { voice: 'alloy', format: 'mp3' } }, '!audio')],
  prediction: [both({ prediction: { type: 'content', content: 'x' } }, '!prediction')],
  moderation: [both({ moderation: { model: 'omni-moderation-latest' } }, '!moderation')],
  web_search_options: [both({ web_search_options: {} }, '!web_search_options')],
  store: [both({ store: false }, 'silent'), both({ store: true }, '!store')],
  metadata: [both({ metadata: {} }, 'silent'), [{ metadata: { a: '1' } }, '!metadata.a', '!metadata']],
  service_tier: [
    [{ service_tier: 'auto' }, 'told', 'silent'],
    [{ service_tier: 'default' }, 'told', 'silent'],
    ...['flex', 'scale', 'priority'].map((service_tier) => both({ service_tier }, '!service_tier')),
  ],
  prompt_cache_key: [both({ prompt_cache_key: 'k' }, '!prompt_cache_key')],
  prompt_cache_options: [both({ prompt_cache_options: { mode: 'explicit' } }, '!prompt_cache_options')],
  prompt_cache_retention: [both({ prompt_cache_retention: '24h' }, '!prompt_cache_retention')],
  user: [both({ user: 'u' }, 'told')],
  safety_identifier: [both({ safety_identifier: 'u' }, 'told')],
  functions: [both({ functions: [] }, 'silent'), both({ functions: [fn] }, '!functions')],
  function_call: [both({ function_call: 'auto' }, '!function_call')],
  parallel_tool_calls: [
    both({ parallel_tool_calls: true }, 'silent'),
    [{ ...tool({}), parallel_tool_calls: false }, 'told', '!parallel_tool_calls'],
    both({ parallel_tool_calls: 'no' }, '!parallel_tool_calls'),
  ],
  tools: [
    both({ tools: [] }, 'silent'),
    both(tool({ description: 'd', parameters: schema }), 'told'),
    both(tool({ strict: true }), 'told'),
    both(tool({ extra: 1 }), '!tools[0].function.extra'),
    both({ tools: [{ type: 'function', function: fn, extra: 1 }] }, '!tools[0].extra'),
    both({ tools: [{ type: 'custom', custom: { name: 'c' } }] }, '!tools[0].type'),
  ],
  tool_choice: [
    ...['auto', 'none', 'required'].map((told) => both(choice(told), 'told')),
    both(choice({ type: 'function', function: fn }), 'told'),
    both(choice({ type: 'function', function: { ...fn, extra: 1 } }), '!tool_choice.function.extra'),
    both(choice({ type: 'function', function: fn, extra: 1 }), '!tool_choice.extra'),
    [choice({ type: 'custom', custom: { name: 'c' } }), '!tool_choice.type', '!tool_choice'],
    [allowed({}), '!tool_choice.type', 'told'],
    [allowed({ extra: 1 }), '!tool_choice.type', '!tool_choice.allowed_tools.extra'],
    [
      allowed({ tools: [{ type: 'custom', custom: { name: 'c' } }] }),
      '!tool_choice.type',
      '!tool_choice.allowed_tools.tools[0].type',
    ],
    [
      allowed({ tools: [{ type: 'function', function: { ...fn, extra: 1 } }] }),
      '!tool_choice.type',
      '!tool_choice.allowed_tools.tools[0].function.extra',
    ],
    [
      choice({ type: 'allowed_tools', allowed_tools: { mode: 'auto', tools: [] }, extra: 1 }),
      '!tool_choice.type',
      '!tool_choice.extra',
    ],
  ],
  response_format: [
    both({ response_format: { type: 'text' } }, 'silent'),
    both({ response_format: { type: 'text', extra: 1 } }, '!response_format.extra'),
    [{ response_format: { type: 'json_object' } }, '!response_format.type', 'told'],
    both({ response_format: { type: 'json_object', extra: 1 } }, '!response_format.extra'),
    both(formed({}), 'told'),
    both(formed({ description: 'd', strict: true }), 'told'),
    both(formed({ extra: 1 }), '!response_format.json_schema.extra'),
    both({ response_format: { ...(formed({})['response_format'] as Json), extra: 1 } }, '!response_format.extra'),
    both({ response_format: { type: 'grammar' } }, '!response_format.type'),
  ],
  messages: [
    // Roles.
    both(messages({ role: 'system', content: 'Be brief.' }, hi), 'told'),
    both(messages({ role: 'developer', content: [{ type: 'text', text: 'Be brief.' }] }, hi), 'told'),
    both(messages({ role: 'system', name: 'n', content: 'x' }, hi), '!messages[0].name'),
    both(messages(hi, { role: 'system', content: 'x' }), '!messages[1].role'),
    both(messages({ ...hi, name: 'n' }), '!messages[0].name'),
    both(messages({ role: 'function', name: 'f', content: 'x' }), '!messages[0].role'),
    // A user's parts.
    both(part({ type: 'text', text: 'x' }), 'told'),
    both(part({ type: 'text', text: 'x', ...breakpoint }), `!${at}.prompt_cache_breakpoint`),
    both(image({}), 'told'),
    both(image({ detail: 'auto' }), 'told'),
    [image({ detail: 'low' }), `!${at}.image_url.detail`, 'told'],
    both(image({ url: 'data:image/png;base64,iVBORw0KGgo=' }), 'told'),
    both(image({ url: 'http://x.example/a.png' }), `!${at}.image_url.url`),
    both(image({ extra: 1 }), `!${at}.image_url.extra`),
    both(
      part({ type: 'image_url', image_url: { url: 'https://x.example/a.png' }, ...breakpoint }),
      `!${at}.prompt_cache_breakpoint`,
    ),
    [part({ type: 'input_audio', input_audio: { data: 'AA==', format: 'wav' } }), `!${at}.type`, 'told'],
    [
      part({ type: 'input_audio', input_audio: { data: 'AA==', format: 'wav', extra: 1 } }),
      `!${at}.type`,
      `!${at}.input_audio.extra`,
    ],
    both(file({ filename: 'a.pdf' }), 'told'),
    both(file({ file_id: 'f-1' }), `!${at}.file.file_id`),
    both(part({ type: 'video', video: {} }), `!${at}.type`),
    // An assistant's members.
    both(answered({}), 'told'),
    both(answered({ content: [{ type: 'refusal', refusal: 'No.' }] }), 'told'),
    both(answered({ refusal: 'No.' }), 'told'),
    both(answered({ name: 'n' }), '!messages[1].name'),
    both(answered({ audio: { id: 'a' } }), '!messages[1].audio'),
    both(answered({ function_call: { name: 'f', arguments: '' } }), '!messages[1].function_call'),
    both(answered({ annotations: [{ type: 'url_citation' }] }), '!messages[1].annotations'),
    both(answered({ tool_calls: [call] }), 'told'),
    both(answered({ tool_calls: [{ ...call, extra: 1 }] }), '!messages[1].tool_calls[0].extra'),
    both(answered({ tool_calls: [{ id: 'c', type: 'custom', custom: {} }] }), '!messages[1].tool_calls[0].type'),
    // The result of a tool.
    both(called({}), 'told'),
    both(called({ content: [{ type: 'text', text: 'x' }] }), 'told'),
    both(called({ extra: 1 }), '!messages[2].extra'),
  ],
};

const ADAPTERS = [
  ['anthropic', 1, (body: Json) => messagesRequest(body, { model: 'claude', maxOutputTokens: 64_000 }).text(false)],
  ['vertex', 2, (body: Json) => writeJson(geminiRequest(body, 'gemini-2.5-flash'))],
] as const;

describe.each(ADAPTERS)('every member of a request in OpenAI format, at %s', (_, place, translate) => {
  const fateOf = (members: Json): Fate => {
    try {
      return translate({ messages: [hi], ...members }) === translate({ messages: [hi] }) ? 'silent' : 'told';
    } catch (error) {
      if (error instanceof UntranslatableError) return `!${error.param}`;
      throw error;
    }
  };

  it.each(Object.entries(TABLE))('%s', (name, rows) => {
    for (const row of rows) expect([row[0], fateOf(row[0])]).toEqual([row[0], row[place]]);
    // A null says that it is not given; there must be messages.
    if (name !== 'messages') expect(fateOf({ [name]: null })).toBe('silent');
  });
});
