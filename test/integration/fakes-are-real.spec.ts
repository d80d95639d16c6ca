import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { anthropicRig } from '../contract/provider.anthropic-rig.js';
import { answering, reply, textReply } from '../contract/provider.attempts.js';
import { openAiRig } from '../contract/provider.openai-rig.js';
import { json, type ScriptedUpstream, startScriptedUpstream, stream } from '../support/scripted-upstream.js';

/** The official clients, unmodified, take the fakes for the real thing: so what the adapters pass against them is worth something. */

const CALLED = reply([
  { kind: 'text', text: 'I look 你好😀.' },
  { kind: 'call', id: 'call_1', name: 'get_weather', arguments: '{"city":"Zürich"}' },
  { kind: 'call', id: 'call_2', name: 'get_time', arguments: '{}' },
]);

let fake: ScriptedUpstream;
beforeEach(async () => {
  fake = await startScriptedUpstream();
});
afterEach(() => fake.close());

describe('the fake of OpenAI, read by openai', () => {
  const messages = [{ role: 'user', content: 'Hi' }] as const;
  const client = (): OpenAI => new OpenAI({ baseURL: fake.url, apiKey: 'k', maxRetries: 0 });
  const create = (): Promise<OpenAI.ChatCompletion> =>
    client().chat.completions.create({ model: 'm', messages: [...messages] });

  it('answers whole', async () => {
    fake.play(answering(openAiRig.wire, CALLED));
    const { choices, usage } = await create();
    expect(choices[0]).toMatchObject({
      finish_reason: 'tool_calls',
      message: {
        content: 'I look 你好😀.',
        tool_calls: [
          { id: 'call_1', function: { name: 'get_weather', arguments: '{"city":"Zürich"}' } },
          { id: 'call_2' },
        ],
      },
    });
    expect(usage).toMatchObject({ prompt_tokens: 12, completion_tokens: 7 });
  });

  it('streams, and the client puts the same answer together', async () => {
    fake.play(answering(openAiRig.wire, CALLED));
    const whole = await create();
    const streamed = await client()
      .chat.completions.stream({ model: 'm', messages: [...messages], stream_options: { include_usage: true } })
      .finalChatCompletion();
    const { content, tool_calls: calls } = streamed.choices[0]?.message ?? {};
    expect(content).toBe(whole.choices[0]?.message.content);
    expect(calls?.map(({ id, function: called }) => [id, called.name, called.arguments])).toEqual([
      ['call_1', 'get_weather', '{"city":"Zürich"}'],
      ['call_2', 'get_time', '{}'],
    ]);
    expect(streamed.usage).toEqual(whole.usage);
  });

  it('stays alive, and fails within a stream', async () => {
    const { wire } = openAiRig;
    const [first = '', second = ''] = wire.frames(textReply('one two three'));
    fake.play(stream([wire.keepAlive, first, second, wire.errorFrame]));
    const opened = await client().chat.completions.create({ model: 'm', messages: [...messages], stream: true });
    let content = '';
    const read = async (): Promise<void> => {
      for await (const { choices } of opened) content += choices[0]?.delta.content ?? '';
    };
    await expect(read()).rejects.toMatchObject({ type: 'overloaded_error' });
    expect(content).toBe('one t');
  });

  it.each(openAiRig.refusals.map((each) => [each.name, each] as const))('refuses: %s', async (_, refusal) => {
    fake.play(json(refusal.status, refusal.body, { ...refusal.headers }));
    const failure = await create().catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(OpenAI.APIError);
    expect(failure).toMatchObject({ status: refusal.status });
  });
});

describe('the fake of Anthropic, read by @anthropic-ai/sdk', () => {
  const params = {
    model: 'm',
    max_tokens: 100,
    system: [{ type: 'text', text: 'Be brief.' }],
    messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }],
  } satisfies Anthropic.MessageCreateParams;
  const client = (): Anthropic =>
    new Anthropic({ baseURL: fake.url.replace(/\/v1$/, ''), apiKey: 'k', maxRetries: 0, logLevel: 'off' });

  it('answers whole', async () => {
    fake.play(answering(anthropicRig.wire, CALLED));
    const message = await client().messages.create(params);
    expect(message).toMatchObject({
      type: 'message',
      stop_reason: 'tool_use',
      content: [
        { type: 'text', text: 'I look 你好😀.' },
        { type: 'tool_use', id: 'call_1', name: 'get_weather', input: { city: 'Zürich' } },
        { type: 'tool_use', id: 'call_2', name: 'get_time', input: {} },
      ],
      usage: { input_tokens: 12, output_tokens: 7 },
    });
  });

  it('streams, and the client puts the same answer together', async () => {
    const thinking = reply([{ kind: 'reasoning', text: 'The user greets.' }, ...CALLED.content]);
    fake.play(answering(anthropicRig.wire, thinking));
    const whole = await client().messages.create(params);
    const { content, stop_reason: reason, usage } = await client().messages.stream(params).finalMessage();
    expect({ content, reason }).toEqual({ content: whole.content, reason: 'tool_use' });
    expect(usage).toMatchObject({ input_tokens: 12, output_tokens: 7 });
  });

  it('stays alive, and fails within a stream', async () => {
    const { wire } = anthropicRig;
    const frames = wire.frames(textReply('one two three')).slice(0, 4);
    fake.play(stream([...frames, wire.keepAlive, wire.errorFrame]));
    let content = '';
    const read = async (): Promise<void> => {
      for await (const event of await client().messages.create({ ...params, stream: true })) {
        if (event.type === 'content_block_delta' && event.delta.type === 'text_delta') content += event.delta.text;
      }
    };
    await expect(read()).rejects.toMatchObject({ type: 'overloaded_error' });
    expect(content).toBe('one t');
  });

  it.each(anthropicRig.refusals.map((each) => [each.name, each] as const))('refuses: %s', async (_, refusal) => {
    fake.play(json(refusal.status, refusal.body, { ...refusal.headers }));
    const failure = await client()
      .messages.create(params)
      .catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(Anthropic.APIError);
    expect(failure).toMatchObject({ status: refusal.status });
    const told = refusal.body as { readonly error?: { readonly type: string } };
    if (told.error !== undefined) expect(failure).toMatchObject({ type: told.error.type });
  });

  it('understands what the client sends', async () => {
    fake.play(answering(anthropicRig.wire, textReply('ok')));
    await client().messages.create(params);
    expect(fake.requests.map((request) => anthropicRig.wire.understand(request))).toMatchObject([
      {
        model: 'm',
        maxTokens: 100,
        system: ['Be brief.'],
        turns: [{ role: 'user', parts: [{ kind: 'text', text: 'Hi' }] }],
      },
    ]);
  });

  it.each([
    ['an unknown member', { seed: 1 }],
    ['an empty text', { messages: [{ role: 'user', content: '' }] }],
    ['a conversation that the assistant begins', { messages: [{ role: 'assistant', content: 'Hi' }] }],
    [
      'a result without its call',
      { messages: [{ role: 'user', content: [{ type: 'tool_result', tool_use_id: 'x' }] }] },
    ],
    [
      'a call without its result',
      {
        messages: [
          { role: 'user', content: 'Hi' },
          { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'f', input: {} }] },
          { role: 'user', content: 'And?' },
        ],
      },
    ],
    ['a choice among no tools', { tool_choice: { type: 'any' } }],
    ['no limit', { max_tokens: undefined }],
  ])('refuses what the provider refuses: %s', async (_, members) => {
    fake.play(answering(anthropicRig.wire, textReply('ok')));
    const response = await fetch(`${fake.url}/messages`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'anthropic-version': '2023-06-01' },
      body: JSON.stringify({ ...params, ...members }),
    });
    expect(response.status).toBe(400);
  });
});
