import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { TokenCounters, type TokenCounter } from '../../../src/tokens/index.js';
import { patient } from '../../support/patient-counter.js';

let counters: TokenCounters;
let o200k: TokenCounter;

beforeAll(() => {
  counters = new TokenCounters();
  o200k = patient(counters.for({ encoding: 'o200k', ratio: 1 }));
});

afterAll(() => counters.close());

const user = (content: unknown): { messages: unknown[] } => ({ messages: [{ role: 'user', content }] });
const requestTokens = async (body: unknown, counter = o200k): Promise<number> =>
  (await counter.countRequest(body)).tokens;
const textTokens = async (text: string): Promise<number> => (await o200k.count(text)).tokens;

/** The examples of OpenAI's cookbook, "How to count tokens with tiktoken", and what the API answered for gpt-4o. */
const TRANSLATION = {
  messages: [
    {
      role: 'system',
      content: 'You are a helpful, pattern-following assistant that translates corporate jargon into plain English.',
    },
    { role: 'system', name: 'example_user', content: 'New synergies will help drive top-line growth.' },
    { role: 'system', name: 'example_assistant', content: 'Things working well together will increase revenue.' },
    {
      role: 'system',
      name: 'example_user',
      content: "Let's circle back when we have more bandwidth to touch base on opportunities for increased leverage.",
    },
    {
      role: 'system',
      name: 'example_assistant',
      content: "Let's talk later when we're less busy about how to do better.",
    },
    { role: 'user', content: "This late pivot means we don't have time to boil the ocean for the client deliverable." },
  ],
};
const TRANSLATION_TOKENS = 124;
const WEATHER_TOOL = {
  name: 'get_current_weather',
  description: 'Get the current weather in a given location',
  parameters: {
    type: 'object',
    properties: {
      location: { type: 'string', description: 'The city and state, e.g. San Francisco, CA' },
      unit: { type: 'string', description: 'The unit of temperature to return', enum: ['celsius', 'fahrenheit'] },
    },
    required: ['location'],
  },
};
const WEATHER = {
  messages: [
    { role: 'system', content: 'You are a helpful assistant that can answer to questions about the weather.' },
    { role: 'user', content: "What's the weather like in San Francisco?" },
  ],
  tools: [{ type: 'function', function: WEATHER_TOOL }],
};
const WEATHER_TOKENS = 101;

describe('TokenCounter.countRequest()', () => {
  it('counts messages, roles and names exactly as OpenAI bills them', async () => {
    expect(await requestTokens(TRANSLATION)).toBe(TRANSLATION_TOKENS);
    expect(await requestTokens(user('Say this is a test!'))).toBe(6 + 3 + 1 + 3);
  });

  it('counts tools at what OpenAI bills or somewhat more', async () => {
    const tokens = await requestTokens(WEATHER);
    expect(tokens).toBeGreaterThanOrEqual(WEATHER_TOKENS);
    expect(tokens).toBeLessThan(WEATHER_TOKENS * 1.7);
  });

  it("never counts a function below the cookbook's formula", async () => {
    const words = fc
      .array(fc.constantFrom('city', 'the', 'Temperature', 'größe', '天气', 'x'), { minLength: 1, maxLength: 12 })
      .map((each) => each.join(' '));
    const property = fc.record({
      type: fc.constantFrom('string', 'integer', 'boolean'),
      description: words,
      enum: fc.array(words, { minLength: 1, maxLength: 20 }),
    });
    const callable = fc.record({
      name: fc.constantFrom('search', 'get_weather', 'doThings'),
      description: words,
      parameters: fc.record({
        type: fc.constant('object'),
        properties: fc.dictionary(fc.constantFrom('a', 'city', 'unit_of_measure'), property),
      }),
    });
    await fc.assert(
      fc.asyncProperty(callable, async (definition) => {
        const { name, description, parameters } = definition;
        let formula = 7 + 12 + (await textTokens(`${name}:${description}`));
        const properties = Object.entries(parameters.properties);
        formula += properties.length > 0 ? 3 : 0;
        for (const [key, each] of properties) {
          formula += 3 - 3 + (await textTokens(`${key}:${each.type}:${each.description}`));
          for (const item of each.enum) formula += 3 + (await textTokens(item));
        }
        const counted =
          (await requestTokens({ ...user('hi'), tools: [{ type: 'function', function: definition }] })) -
          (await requestTokens(user('hi')));
        expect(counted).toBeGreaterThanOrEqual(formula);
      }),
      { numRuns: 50 },
    );
  });

  it('counts custom tools, the old functions and an output schema', async () => {
    const plain = await requestTokens(user('hi'));
    const grammar = { type: 'grammar', grammar: { syntax: 'lark', definition: 'start: "a" | "b" | "c"' } };
    const schema = { name: 'answer', schema: { type: 'object', properties: { a: { type: 'string' } } } };
    for (const extra of [
      { tools: [{ type: 'custom', custom: { name: 'run_code', description: 'Runs code', format: grammar } }] },
      { functions: [WEATHER_TOOL] },
      { response_format: { type: 'json_schema', json_schema: schema } },
    ]) {
      expect(await requestTokens({ ...user('hi'), ...extra })).toBeGreaterThan(plain + 20);
    }
  });

  it('counts the calls of a message by name and arguments', async () => {
    const call = { id: 'call_1', type: 'function', function: { name: 'get_weather', arguments: '{"city":"Paris"}' } };
    const known =
      (await textTokens('assistant')) + (await textTokens('get_weather')) + (await textTokens('{"city":"Paris"}'));
    const { tokens } = await o200k.countMessage({ role: 'assistant', content: null, tool_calls: [call] });
    expect(tokens).toBe(known + 3 + 10);
  });

  it('counts text parts as text and a picture at the most it can come to, whatever its base64', async () => {
    expect(await requestTokens(user([{ type: 'text', text: 'hello world' }]))).toBe(
      await requestTokens(user('hello world')),
    );
    const image = (bytes: number, detail?: string): unknown => ({
      type: 'image_url',
      image_url: { url: `data:image/png;base64,${'A'.repeat(bytes)}`, ...(detail !== undefined && { detail }) },
    });
    const expected = { textTokens: 7, attachmentTokens: 85 + 8 * 170 };
    expect(await o200k.countRequest(user([image(10)]))).toMatchObject(expected);
    expect(await o200k.countRequest(user([image(2_000_000, 'high')]))).toMatchObject(expected);
    expect(await requestTokens(user([image(10, 'low')]))).toBe(85 + 7);
    expect(
      (await o200k.countRequest(user([{ type: 'input_audio', input_audio: { data: 'A'.repeat(1_000) } }])))
        .attachmentTokens,
    ).toBe(1_000);
  });

  it('does not multiply pictures by the ratio', async () => {
    const double = patient(counters.for({ encoding: 'o200k', ratio: 2 }));
    const body = user([{ type: 'image_url', image_url: { url: 'https://example.com/a.png' } }]);
    expect(await requestTokens(body, double)).toBe(1_445 + 14);
  });

  it("adds Claude's own prompt for tools, once", async () => {
    const claude = patient(counters.for({ encoding: 'claude', ratio: 1 }));
    const plain = await requestTokens(WEATHER.messages, claude);
    const one = await requestTokens(WEATHER, claude);
    const two = await requestTokens({ ...WEATHER, tools: [...WEATHER.tools, ...WEATHER.tools] }, claude);
    expect(one - plain).toBeGreaterThan(500);
    expect(two - one).toBeLessThan(300);
  });

  it('is the sum of its messages and the priming', async () => {
    const messages = [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: '你好 😀' },
      { role: 'assistant', content: 'Hello!' },
    ];
    const each = await Promise.all(messages.map(async (message) => (await o200k.countMessage(message)).tokens));
    expect(await requestTokens({ messages })).toBe(each.reduce((sum, tokens) => sum + tokens, 3));
  });

  it('answers a finite number for any JSON value', async () => {
    await fc.assert(
      fc.asyncProperty(fc.jsonValue(), fc.jsonValue(), async (any, content) => {
        const schema = { messages: any, tools: any, response_format: { json_schema: any } };
        for (const body of [any, schema, user(content), user([content])]) {
          expect(Number.isInteger(await requestTokens(body))).toBe(true);
        }
      }),
    );
  });

  it('survives nesting that would overflow a recursive walk', async () => {
    const deep: unknown = JSON.parse(`${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}`);
    expect(await requestTokens({ tools: [{ function: deep }] })).toBeGreaterThan(20_000);
  });
});
