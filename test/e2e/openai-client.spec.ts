import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import OpenAI from 'openai';
import { sized } from '../support/proof-scale.js';
import { environmentFor, type SpawnedServer, spawnServer } from '../support/spawned-server.js';
import { type E2eUpstream, lastBody, TO_THE_PROVIDER, UPSTREAMS } from '../support/upstreams.js';
import { CITY_SCHEMA, EXACT_TEXT, PIXEL, WEATHER_PARAMETERS } from '../support/wire-samples.js';

jest.setTimeout(sized(120_000, 600_000));

const model = 'gpt-4.1';

describe.each(UPSTREAMS)('the openai client over %s', (name, start) => {
  let upstream: E2eUpstream;
  let server: SpawnedServer;
  let client: OpenAI;

  beforeAll(async () => {
    upstream = await start();
    server = await spawnServer({ environment: environmentFor(upstream.url) });
    client = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: 'sk-any', defaultHeaders: TO_THE_PROVIDER });
  });
  afterAll(async () => {
    await server.kill();
    await upstream.close();
  });

  const user = (content: string): OpenAI.Chat.ChatCompletionMessageParam[] => [{ role: 'user', content }];

  it('lists models and reads one', async () => {
    const ids: string[] = [];
    for await (const each of client.models.list()) ids.push(each.id);
    expect(ids).toEqual(['gpt-4.1', 'claude-sonnet-4.5', 'gemini-2.5-flash', 'deepseek-v3.2']);
    const one = await client.models.retrieve('claude-sonnet-4-5');
    expect(one).toMatchObject({ id: 'claude-sonnet-4.5', object: 'model', owned_by: 'anthropic' });
  });

  it('completes in JSON, text exact, with usage, cost and request id', async () => {
    const { data, response, request_id } = await client.chat.completions
      .create(
        { model: 'gpt-4.1-2025-04-14', messages: user(`echo: ${EXACT_TEXT}`) },
        { headers: { 'x-request-id': 'mine-1' } },
      )
      .withResponse();
    expect(data.choices[0]?.message.content).toBe(EXACT_TEXT);
    expect(data.choices[0]?.finish_reason).toBe('stop');
    expect(data.model).toBe('gpt-4.1');
    expect(data.usage).toMatchObject({ total_tokens: expect.any(Number), cost: expect.any(Number) });
    expect(request_id).toBe('mine-1');
    expect(response.headers.get('x-coordinator-route')).toBe('alias');
    expect(response.headers.get('x-coordinator-provider')).toBe('holysheep');
  });

  it('streams the exact text, without usage unless asked', async () => {
    const stream = await client.chat.completions.create({
      model,
      messages: user(`echo: ${EXACT_TEXT}`),
      stream: true,
    });
    let text = '';
    let finished = 0;
    for await (const chunk of stream) {
      expect(chunk).not.toHaveProperty('usage');
      expect(chunk.model).toBe(model);
      text += chunk.choices[0]?.delta.content ?? '';
      finished += chunk.choices[0]?.finish_reason === 'stop' ? 1 : 0;
    }
    expect(text).toBe(EXACT_TEXT);
    expect(finished).toBe(1);
    expect((await lastBody(upstream))['stream_options']).toEqual({ include_usage: true });
  });

  it('tells usage once, at the end, to a stream that asks', async () => {
    const stream = client.chat.completions.stream({
      model,
      messages: user(`echo: ${EXACT_TEXT}`),
      stream_options: { include_usage: true },
    });
    const usages: unknown[] = [];
    stream.on('chunk', ({ usage }) => usages.push(usage));
    const completion = await stream.finalChatCompletion();
    expect(completion.choices[0]?.message.content).toBe(EXACT_TEXT);
    expect(usages.slice(0, -1).every((usage) => usage === null)).toBe(true);
    expect(usages.at(-1)).toMatchObject({ total_tokens: expect.any(Number), cost: expect.any(Number) });
    expect(await stream.totalUsage()).toMatchObject({ total_tokens: completion.usage?.total_tokens });
  });

  it.each([false, true])('goes round with a tool, stream: %s', async (stream) => {
    const asked: unknown[] = [];
    const answer = (given: object): string => {
      asked.push(given);
      return '12 °C und Föhn 🌬️';
    };
    const call = {
      model,
      messages: user('call:get_weather {"city":"Zürich"}'),
      tools: [
        {
          type: 'function' as const,
          function: {
            name: 'get_weather',
            description: 'The weather in a city.',
            parameters: WEATHER_PARAMETERS,
            parse: JSON.parse as (text: string) => object,
            function: answer,
          },
        },
      ],
    };
    const { completions } = client.chat;
    const runner = stream ? completions.runTools({ ...call, stream: true }) : completions.runTools(call);
    expect(await runner.finalContent()).toContain('12 °C und Föhn 🌬️');
    expect(asked).toEqual([{ city: 'Zürich' }]);
    expect(await lastBody(upstream)).toMatchObject({
      model,
      tools: [{ type: 'function', function: { name: 'get_weather', parameters: WEATHER_PARAMETERS } }],
      messages: [
        { role: 'user' },
        { role: 'assistant', tool_calls: [{ type: 'function', function: { arguments: '{"city":"Zürich"}' } }] },
        { role: 'tool', content: '12 °C und Föhn 🌬️' },
      ],
    });
  });

  it('passes image parts on untouched', async () => {
    const content: OpenAI.Chat.ChatCompletionContentPart[] = [
      { type: 'text', text: 'echo: seen' },
      { type: 'image_url', image_url: { url: PIXEL, detail: 'low' } },
    ];
    const reply = await client.chat.completions.create({ model, messages: [{ role: 'user', content }] });
    expect(reply.choices[0]?.message.content).toBe('seen');
    expect((await lastBody(upstream))['messages']).toEqual([{ role: 'user', content }]);
  });

  it('row 66: takes a picture of 9 MB', async () => {
    const url = `data:image/png;base64,${'A'.repeat(9_000_000)}`;
    const content: OpenAI.Chat.ChatCompletionContentPart[] = [
      { type: 'text', text: 'echo: large' },
      { type: 'image_url', image_url: { url } },
    ];
    const reply = await client.chat.completions.create({ model, messages: [{ role: 'user', content }] });
    expect(reply.choices[0]?.message.content).toBe('large');
    expect((await upstream.requests()).at(-1)?.bytes).toBeGreaterThan(9_000_000);
  });

  it('parses structured output', async () => {
    const format = { type: 'json_schema' as const, json_schema: { name: 'city', strict: true, schema: CITY_SCHEMA } };
    const reply = await client.chat.completions.parse({
      model,
      messages: user('Which city?'),
      response_format: format,
    });
    const message = reply.choices[0]?.message;
    expect(message?.parsed).toEqual(JSON.parse(message?.content ?? ''));
    if (name === 'the simulator') expect(message?.parsed).toMatchObject({ city: expect.any(String) });
    expect((await lastBody(upstream))['response_format']).toEqual(format);
  });

  it('passes members on that nobody here knows', async () => {
    const extra = { x_vendor: { big: 1e21, list: [1, null, 'ü'] }, reasoning_effort: 'low' as const };
    await client.chat.completions.create({ model, messages: user('echo: x'), ...extra });
    expect(await lastBody(upstream)).toMatchObject(extra);
  });
});
