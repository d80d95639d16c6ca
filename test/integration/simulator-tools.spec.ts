import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import {
  callsOf,
  chunksOf,
  completionOf,
  startTestSimulator,
  textOf,
  type RawReply,
  type TestSimulator,
} from '../support/simulator.js';

let simulator: TestSimulator;

beforeAll(async () => {
  simulator = await startTestSimulator();
});
afterEach(() => simulator.reset());
afterAll(() => simulator.close());

const ask = (content: unknown, more: object = {}): Promise<RawReply> =>
  simulator.chat({ model: 'gpt-4.1', messages: [{ role: 'user', content }], ...more });

describe('tools and structured output', () => {
  const tool = (name: string, parameters: object = {}): object => ({
    type: 'function',
    function: { name, parameters },
  });
  const weather = tool('get_weather', {
    type: 'object',
    properties: {
      city: { type: 'string' },
      unit: { enum: ['C', 'F'] },
      days: { type: 'integer', minimum: 1, maximum: 5 },
    },
    required: ['city', 'unit'],
  });

  it('calls the tool that the user message names, with arguments valid for its schema', async () => {
    const reply = await ask('What is the weather in Paris?', { tools: [tool('send_mail'), weather] });
    expect(completionOf(reply).choices[0]).toMatchObject({ finish_reason: 'tool_calls', message: { content: null } });
    const [call] = callsOf(reply);
    expect(call?.id).toMatch(/^call_/);
    expect(call?.function.name).toBe('get_weather');
    const given: unknown = JSON.parse(call?.function.arguments ?? '');
    expect(given).toEqual({
      city: expect.any(String) as unknown,
      unit: expect.stringMatching(/^[CF]$/) as unknown,
      days: expect.any(Number) as unknown,
    });
  });

  it('answers in text when no tool is asked for', async () => {
    expect(callsOf(await ask('echo: hello', { tools: [weather] }))).toEqual([]);
    expect(callsOf(await ask('the weather?', { tools: [weather], tool_choice: 'none' }))).toEqual([]);
  });

  it('always calls when it must', async () => {
    expect(callsOf(await ask('echo: hello', { tools: [weather, tool('b')], tool_choice: 'required' }))).toHaveLength(1);
    const named = await ask('echo: hello', {
      tools: [weather, tool('b')],
      tool_choice: { type: 'function', function: { name: 'b' } },
    });
    expect(callsOf(named)[0]?.function.name).toBe('b');
  });

  it('calls with exactly the arguments asked for, in parallel unless that is off', async () => {
    const content = 'call:get_weather {"city":"Zürich 😀","unit":"C"}\ncall:send_mail {}';
    const both = callsOf(await ask(content, { tools: [tool('send_mail'), weather] }));
    expect(both.map((call) => call.function)).toEqual([
      { name: 'get_weather', arguments: '{"city":"Zürich 😀","unit":"C"}' },
      { name: 'send_mail', arguments: '{}' },
    ]);
    expect(new Set(both.map((call) => call.id)).size).toBe(2);
    expect(
      callsOf(await ask(content, { tools: [tool('send_mail'), weather], parallel_tool_calls: false })),
    ).toHaveLength(1);
  });

  it('streams a call as its name and then fragments of its arguments', async () => {
    const reply = await ask('call:get_weather {"city":"Zürich 😀"}', { tools: [weather], stream: true });
    const deltas = chunksOf(reply.text).flatMap((frame) => frame.choices[0]?.delta.tool_calls ?? []);
    expect(deltas[0]).toMatchObject({ index: 0, function: { name: 'get_weather', arguments: '' } });
    expect(deltas[0]?.id).toMatch(/^call_/);
    expect(deltas[1]).not.toHaveProperty('id');
    expect(deltas.length).toBeGreaterThan(4);
    expect(deltas.map((delta) => delta.function?.arguments).join('')).toBe('{"city":"Zürich 😀"}');
    expect(chunksOf(reply.text).at(-1)?.choices[0]?.finish_reason).toBe('tool_calls');
  });

  it('cites the results that it is given', async () => {
    const asked = { role: 'user', content: 'weather?' };
    const called = {
      role: 'assistant',
      content: null,
      tool_calls: ['a', 'b'].map((id) => ({ id, type: 'function', function: { name: `get_${id}`, arguments: '{}' } })),
    };
    const results = ['a', 'b'].map((id) => ({ role: 'tool', tool_call_id: id, content: `result ${id} 你好` }));
    const reply = await simulator.chat({ model: 'gpt-4.1', tools: [weather], messages: [asked, called, ...results] });
    expect(completionOf(reply).choices[0]).toMatchObject({
      finish_reason: 'stop',
      message: { content: 'get_a answered: result a 你好\nget_b answered: result b 你好' },
    });
  });

  it('gives JSON for a response_format', async () => {
    const object = await ask('give me JSON', { response_format: { type: 'json_object' } });
    expect(JSON.parse(textOf(object))).toEqual({ answer: expect.any(String) as unknown });
    const schema = {
      type: 'object',
      properties: { steps: { type: 'array', items: { $ref: '#/$defs/step' } } },
      required: ['steps'],
      $defs: { step: { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] } },
    };
    const format = { type: 'json_schema', json_schema: { name: 'plan', strict: true, schema } };
    const reply = await ask('plan', { response_format: format });
    expect(JSON.parse(textOf(reply))).toEqual({ steps: [{ n: expect.any(Number) as unknown }] });
  });
});
