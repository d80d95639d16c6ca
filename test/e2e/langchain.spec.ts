import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { AIMessageChunk, HumanMessage, ToolMessage } from '@langchain/core/messages';
import { ChatOpenAI, type ChatOpenAIFields } from '@langchain/openai';
import { sized } from '../support/proof-scale.js';
import { environmentFor, type SpawnedServer, spawnServer } from '../support/spawned-server.js';
import { type E2eUpstream, lastBody, TO_THE_PROVIDER, UPSTREAMS } from '../support/upstreams.js';
import { CITY_SCHEMA, EXACT_TEXT, PIXEL, WEATHER_PARAMETERS } from '../support/wire-samples.js';

jest.setTimeout(sized(120_000, 600_000));

const WEATHER = { type: 'function' as const, function: { name: 'get_weather', parameters: WEATHER_PARAMETERS } };
const USED = { input_tokens: expect.any(Number), output_tokens: expect.any(Number), total_tokens: expect.any(Number) };

describe.each(UPSTREAMS)('LangChain over %s', (name, start) => {
  let upstream: E2eUpstream;
  let server: SpawnedServer;

  beforeAll(async () => {
    upstream = await start();
    server = await spawnServer({ environment: environmentFor(upstream.url) });
  });
  afterAll(async () => {
    await server.kill();
    await upstream.close();
  });

  const chat = (fields: ChatOpenAIFields = {}): ChatOpenAI =>
    new ChatOpenAI({
      model: 'gpt-4.1',
      apiKey: 'sk-any',
      configuration: { baseURL: `${server.url}/v1`, defaultHeaders: TO_THE_PROVIDER },
      ...fields,
    });

  it('invokes, text exact, with usage', async () => {
    const message = await chat().invoke(`echo: ${EXACT_TEXT}`);
    expect(message.content).toBe(EXACT_TEXT);
    expect(message.usage_metadata).toMatchObject(USED);
    expect(message.response_metadata).toMatchObject({ finish_reason: 'stop', model_name: 'gpt-4.1' });
  });

  it('streams, text exact, with usage', async () => {
    let whole = new AIMessageChunk('');
    let pieces = 0;
    for await (const piece of await chat().stream(`echo: ${EXACT_TEXT}`)) {
      whole = whole.concat(piece);
      pieces += 1;
    }
    expect(whole.content).toBe(EXACT_TEXT);
    expect(pieces).toBeGreaterThan(1);
    expect(whole.usage_metadata).toMatchObject(USED);
  });

  it('goes round with a tool, in JSON and as a stream', async () => {
    const asking = new HumanMessage('call:get_weather {"city":"Zürich"}');
    const bound = chat().bindTools([WEATHER]);
    const whole = await bound.invoke([asking]);
    let streamed = new AIMessageChunk('');
    for await (const piece of await bound.stream([asking])) streamed = streamed.concat(piece);
    for (const message of [whole, streamed]) {
      const [call] = message.tool_calls ?? [];
      expect(call).toMatchObject({ name: 'get_weather', args: { city: 'Zürich' }, id: expect.any(String) });
      const result = new ToolMessage({ content: '12 °C und Föhn 🌬️', tool_call_id: call?.id ?? '' });
      expect((await bound.invoke([asking, message, result])).content).toContain('12 °C und Föhn 🌬️');
    }
  });

  it('passes image parts on', async () => {
    const content = [
      { type: 'text', text: 'echo: seen' },
      { type: 'image_url', image_url: { url: PIXEL } },
    ];
    expect((await chat().invoke([new HumanMessage({ content })])).content).toBe('seen');
    expect((await lastBody(upstream))['messages']).toEqual([{ role: 'user', content }]);
  });

  it('gives structured output', async () => {
    const city = chat().withStructuredOutput({ ...CITY_SCHEMA, title: 'city' }, { method: 'jsonSchema' });
    const given = await city.invoke('Which city?');
    if (name === 'the simulator') expect(given).toMatchObject({ city: expect.any(String) });
    else expect(given).toEqual({});
    expect(await lastBody(upstream)).toMatchObject({ response_format: { type: 'json_schema' } });
  });

  it('reads our errors as they are, and asks once', async () => {
    const before = (await upstream.requests()).length;
    await expect(chat({ model: 'no-such-model' }).invoke('x')).rejects.toMatchObject({
      status: 404,
      code: 'model_not_found',
      param: 'model',
    });
    expect(await upstream.requests()).toHaveLength(before);
  });
});
