import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { createOpenAICompatible, type OpenAICompatibleProvider } from '@ai-sdk/openai-compatible';
import { APICallError, generateText, jsonSchema, Output, stepCountIs, streamText, tool, type ToolSet } from 'ai';
import { sized } from '../support/proof-scale.js';
import { environmentFor, type SpawnedServer, spawnServer } from '../support/spawned-server.js';
import { type E2eUpstream, lastBody, TO_THE_PROVIDER, UPSTREAMS } from '../support/upstreams.js';
import { CITY_SCHEMA, EXACT_TEXT, PIXEL, WEATHER_PARAMETERS } from '../support/wire-samples.js';

jest.setTimeout(sized(120_000, 600_000));

describe.each(UPSTREAMS)('the AI SDK over %s', (name, start) => {
  let upstream: E2eUpstream;
  let server: SpawnedServer;
  let provider: OpenAICompatibleProvider;

  beforeAll(async () => {
    upstream = await start();
    server = await spawnServer({ environment: environmentFor(upstream.url) });
    provider = createOpenAICompatible({
      name: 'coordinator',
      baseURL: `${server.url}/v1`,
      apiKey: 'sk-any',
      headers: TO_THE_PROVIDER,
      includeUsage: true,
      supportsStructuredOutputs: true,
    });
  });
  afterAll(async () => {
    await server.kill();
    await upstream.close();
  });

  const model = () => provider('gpt-4.1');
  const prompt = `echo: ${EXACT_TEXT}`;

  it('generates text, exact, with usage', async () => {
    const { text, usage, finishReason, response } = await generateText({ model: model(), prompt });
    expect(text).toBe(EXACT_TEXT);
    expect(finishReason).toBe('stop');
    expect(response.modelId).toBe('gpt-4.1');
    expect(usage.totalTokens).toBeGreaterThan(0);
    expect(response.headers?.['x-coordinator-model']).toBe('gpt-4.1');
  });

  it('streams text, exact, with usage', async () => {
    const result = streamText({ model: model(), prompt });
    const pieces: string[] = [];
    for await (const piece of result.textStream) pieces.push(piece);
    expect(pieces.join('')).toBe(EXACT_TEXT);
    expect(pieces.length).toBeGreaterThan(1);
    expect((await result.usage).totalTokens).toBeGreaterThan(0);
    expect(await result.finishReason).toBe('stop');
  });

  it('goes round with a tool, in JSON and as a stream', async () => {
    const asked: unknown[] = [];
    const tools: ToolSet = {
      get_weather: tool({
        inputSchema: jsonSchema<{ city: string }>(WEATHER_PARAMETERS),
        execute: (given) => {
          asked.push(given);
          return '12 °C und Föhn 🌬️';
        },
      }),
    };
    const call = { model: model(), prompt: 'call:get_weather {"city":"Zürich"}', tools, stopWhen: stepCountIs(3) };
    const whole = await generateText(call);
    const streamed = streamText(call);
    await streamed.consumeStream();
    for (const text of [whole.text, await streamed.text]) expect(text).toContain('12 °C und Föhn 🌬️');
    expect(asked).toEqual([{ city: 'Zürich' }, { city: 'Zürich' }]);
    expect(whole.steps.map(({ finishReason }) => finishReason)).toEqual(['tool-calls', 'stop']);
  });

  it('passes image parts on', async () => {
    const { text } = await generateText({
      model: model(),
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'echo: seen' },
            { type: 'image', image: PIXEL },
          ],
        },
      ],
    });
    expect(text).toBe('seen');
    expect(JSON.stringify((await lastBody(upstream))['messages'])).toContain(PIXEL);
  });

  it('generates an object by a schema', async () => {
    const schema = jsonSchema<{ city?: string }>(CITY_SCHEMA);
    const { output } = await generateText({
      model: model(),
      output: Output.object({ schema }),
      prompt: 'Which city?',
    });
    if (name === 'the simulator') expect(output).toMatchObject({ city: expect.any(String) });
    else expect(output).toEqual({});
    expect(await lastBody(upstream)).toMatchObject({
      response_format: { type: 'json_schema', json_schema: { schema: CITY_SCHEMA } },
    });
  });

  it('reads our errors as they are, and asks once', async () => {
    const before = (await upstream.requests()).length;
    const failure: unknown = await generateText({ model: provider('no-such-model'), prompt: 'x' }).catch(
      (error: unknown) => error,
    );
    expect(APICallError.isInstance(failure) && [failure.statusCode, failure.isRetryable, failure.message]).toEqual([
      404,
      false,
      'the model "no-such-model" does not exist',
    ]);
    expect(await upstream.requests()).toHaveLength(before);
  });
});
