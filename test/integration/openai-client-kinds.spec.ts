import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import OpenAI from 'openai';
import { STATUS_TABLE } from '../../src/http/status-table.js';
import { answering, reply, textReply } from '../contract/provider.attempts.js';
import type { ProviderWire, Understood } from '../contract/provider.rig.js';
import { KIND_RIGS, type KindRig, startKind } from '../support/kinds-rig.js';
import { json, type Script, stream } from '../support/scripted-upstream.js';
import { EXACT_TEXT, WEATHER_PARAMETERS } from '../support/wire-samples.js';

const messages = [{ role: 'user' as const, content: 'What is the weather in Zürich?' }];
const CALL = { kind: 'call', id: 'call_1', name: 'get_weather', arguments: '{"city":"Zürich"}' } as const;
const ANSWER = '12 °C und Föhn 🌬️';

/** Calls the tool until its result is there, and then cites it. */
function withTool(wire: ProviderWire): Script {
  return (request, response) => {
    const parts = wire.understand(request).turns.flatMap((turn) => turn.parts);
    const result = parts.find((part) => part.kind === 'result');
    const said = result === undefined ? reply([CALL]) : textReply(`It is ${result.text}.`);
    return answering(wire, said)(request, response);
  };
}

describe.each(KIND_RIGS)('the openai client, unmodified, before a provider of kind %s', (_, rig) => {
  let kind: KindRig;
  let client: OpenAI;

  beforeEach(async () => {
    kind = await startKind(rig);
    client = new OpenAI({ baseURL: `${kind.coordinator.url}/v1`, apiKey: 'sk-any' });
  });
  afterEach(() => kind.close());

  const understood = (): Understood => {
    const request = kind.bench.fake.requests.at(-1);
    if (request === undefined) throw new Error('nothing reached the provider');
    return rig.wire.understand(request);
  };

  it('completes in JSON: the exact text, its end, its usage and its price', async () => {
    kind.bench.fake.play(answering(rig.wire, textReply(EXACT_TEXT)));
    const { data, response } = await client.chat.completions
      .create({ model: 'm', messages, temperature: 0.5, max_completion_tokens: 100, stop: ['END'] })
      .withResponse();
    expect(data).toMatchObject({
      object: 'chat.completion',
      model: 'm',
      choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: EXACT_TEXT } }],
      usage: { prompt_tokens: 12, completion_tokens: 7, total_tokens: 19, cost: expect.any(Number) },
    });
    expect(response.headers.get('x-coordinator-provider')).toBe(kind.bench.upstream.name);
    expect(understood()).toMatchObject({ temperature: 0.5, maxTokens: 100, stop: ['END'], isStream: false });
  });

  it('streams the exact text and one end, and tells usage once, to who asks', async () => {
    kind.bench.fake.play(answering(rig.wire, textReply(EXACT_TEXT)));
    const whole = client.chat.completions.stream({ model: 'm', messages, stream_options: { include_usage: true } });
    const usages: unknown[] = [];
    whole.on('chunk', ({ usage, model }) => {
      expect(model).toBe('m');
      if (usage) usages.push(usage);
    });
    const { choices } = await whole.finalChatCompletion();
    expect(choices).toMatchObject([{ finish_reason: 'stop', message: { content: EXACT_TEXT } }]);
    expect(usages).toMatchObject([{ prompt_tokens: 12, completion_tokens: 7, cost: expect.any(Number) }]);
    expect(understood().isStream).toBe(true);
  });

  it('streams no usage to who does not ask', async () => {
    kind.bench.fake.play(answering(rig.wire, textReply('Hello!')));
    for await (const chunk of await client.chat.completions.create({ model: 'm', messages, stream: true })) {
      expect(chunk.usage ?? null).toBeNull();
    }
  });

  it.each([false, true])('goes round with a tool, stream: %s', async (isStream) => {
    kind.bench.fake.play(withTool(rig.wire));
    const asked: unknown[] = [];
    const weather = {
      name: 'get_weather',
      description: 'The weather in a city.',
      parameters: WEATHER_PARAMETERS,
      parse: JSON.parse as (text: string) => object,
      function: (given: object): string => {
        asked.push(given);
        return ANSWER;
      },
    };
    const call = { model: 'm', messages, tools: [{ type: 'function' as const, function: weather }] };
    const { completions } = client.chat;
    const runner = isStream ? completions.runTools({ ...call, stream: true }) : completions.runTools(call);
    expect(await runner.finalContent()).toBe(`It is ${ANSWER}.`);
    expect(asked).toEqual([{ city: 'Zürich' }]);
    const { tools, turns } = understood();
    expect(tools).toMatchObject([{ name: 'get_weather', description: 'The weather in a city.' }]);
    expect(turns.map(({ role }) => role)).toEqual(['user', 'assistant', 'user']);
    expect(turns[1]?.parts).toMatchObject([{ kind: 'call', name: 'get_weather', input: { city: 'Zürich' } }]);
    expect(turns[2]?.parts).toMatchObject([
      { kind: 'result', of: 'get_weather', text: expect.stringContaining(ANSWER) },
    ]);
  });

  it('raises the provider’s refusals as its own errors, once each', async () => {
    for (const { status, body, code, headers = {} } of rig.refusals.filter(({ blame }) => blame === 'request')) {
      kind.bench.fake.play(json(status, typeof body === 'string' ? body : JSON.stringify(body), headers));
      const before = kind.bench.fake.requests.length;
      const error: unknown = await client.chat.completions
        .create({ model: 'm', messages })
        .catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(OpenAI.APIError);
      expect(error).toMatchObject({ status: STATUS_TABLE[code].status });
      expect(kind.bench.fake.requests.length - before).toBe(1);
    }
  });

  it('row 7: does not triple what the provider breaks: this service’s own tries are all there are', async () => {
    kind.bench.fake.play(json(500, {}));
    const error: unknown = await client.chat.completions
      .create({ model: 'm', messages })
      .catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(OpenAI.InternalServerError);
    expect(kind.bench.fake.requests).toHaveLength(2);
  });

  it('row 39: raises what breaks off in the middle of a stream, after what was said', async () => {
    const frames = rig.wire.frames(textReply('one two three'));
    kind.bench.fake.play(stream([...frames.slice(0, -3), { resets: true }]));
    let said = '';
    const read = async (): Promise<void> => {
      for await (const chunk of await client.chat.completions.create({ model: 'm', messages, stream: true })) {
        said += chunk.choices[0]?.delta.content ?? '';
      }
    };
    await expect(read()).rejects.toBeInstanceOf(OpenAI.APIError);
    expect('one two three'.startsWith(said) && said !== '').toBe(true);
  });
});
