import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import OpenAI from 'openai';
import { startFake } from '../support/independent-fake.js';
import { startTestSimulator, type TestSimulator } from '../support/simulator.js';

let simulator: TestSimulator;
let fake: Awaited<ReturnType<typeof startFake>>;

beforeAll(async () => {
  [simulator, fake] = await Promise.all([startTestSimulator(), startFake()]);
});
afterAll(() => Promise.all([simulator.close(), fake.close()]));

const WEATHER: OpenAI.Chat.ChatCompletionTool = {
  type: 'function',
  function: { name: 'get_weather', parameters: { type: 'object', properties: { city: { type: 'string' } } } },
};

describe.each([
  ['the simulator', () => simulator.url],
  ['the independent fake', () => fake.url],
])('the official client against %s', (_, url) => {
  const client = (): OpenAI => new OpenAI({ baseURL: url(), apiKey: 'sk-any', maxRetries: 0 });
  const user = (content: string): OpenAI.Chat.ChatCompletionMessageParam[] => [{ role: 'user', content }];

  it('lists models', async () => {
    const { data } = await client().models.list();
    expect(data.map((model) => model.id)).toContain('gpt-4.1');
  });

  it('completes in JSON', async () => {
    const reply = await client().chat.completions.create({ model: 'gpt-4.1', messages: user('echo: 你好 😀') });
    expect(reply.choices[0]?.message.content).toBe('你好 😀');
    expect(reply._request_id).toMatch(/./);
  });

  it('streams, with usage at the end', async () => {
    const stream = await client().chat.completions.create({
      model: 'gpt-4.1',
      messages: user('echo: e\u0301 👩‍👩‍👧 end'),
      stream: true,
      stream_options: { include_usage: true },
    });
    let text = '';
    let usage: OpenAI.CompletionUsage | null | undefined;
    for await (const chunk of stream) {
      text += chunk.choices[0]?.delta.content ?? '';
      usage = chunk.usage;
    }
    expect(text).toBe('e\u0301 👩‍👩‍👧 end');
    expect(usage?.total_tokens).toBeGreaterThan(0);
  });

  it.each([false, true])('goes round with a tool, stream: %s', async (stream) => {
    const runner = client().chat.completions.runTools({
      model: 'gpt-4.1',
      stream,
      messages: user('What is the weather in Zürich?'),
      tools: [
        {
          type: 'function',
          function: {
            ...WEATHER.function,
            parse: (text: string) => JSON.parse(text) as { city?: string },
            function: ({ city }: { city?: string }) => `sunny in ${city ?? 'nowhere'} 😀`,
          },
        },
      ],
    } as unknown as Parameters<OpenAI['chat']['completions']['runTools']>[0]);
    expect(await runner.finalContent()).toContain('sunny in ');
  });

  it('raises its own error class for an unknown model', async () => {
    const call = client().chat.completions.create({ model: 'nope', messages: user('hi') });
    await expect(call).rejects.toBeInstanceOf(OpenAI.NotFoundError);
    await expect(call).rejects.toMatchObject({ status: 404, code: 'model_not_found' });
  });
});

describe('the official client against scripted failures', () => {
  const client = (maxRetries = 0): OpenAI =>
    new OpenAI({ baseURL: simulator.url, apiKey: 'sk-any', maxRetries, logLevel: 'off' });
  const body = { model: 'gpt-4.1', messages: [{ role: 'user' as const, content: 'echo: hi' }] };

  it('retries a 429 and then succeeds', async () => {
    await simulator.reset();
    await simulator.script({ status: 429, headers: { 'retry-after-ms': '1' } });
    const reply = await client(1).chat.completions.create(body);
    expect(reply.choices[0]?.message.content).toBe('hi');
    expect((await simulator.stats()).requests.byStatus).toEqual({ 200: 1, 429: 1 });
  });

  it('throws on an error frame and on garbage in a stream', async () => {
    await simulator.script({ errorAfterFrames: 1 }, { garbageAfterFrames: 1 });
    for (let call = 0; call < 2; call += 1) {
      const stream = await client().chat.completions.create({ ...body, stream: true });
      const read = async (): Promise<void> => {
        for await (const chunk of stream) expect(chunk.object).toBe('chat.completion.chunk');
      };
      await expect(read()).rejects.toThrow();
    }
  });

  it('is seen to leave when it aborts', async () => {
    await simulator.reset();
    const stream = await client().chat.completions.create({ ...body, model: 'slow', stream: true });
    for await (const chunk of stream) if (chunk.choices.length > 0) break;
    const stats = await simulator.statsWhen(({ inFlight }) => inFlight === 0);
    expect(stats.abortedByClient).toBe(1);
  });
});
