import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { startSimulator } from '../../src/simulator/index.js';
import { sized } from '../support/proof-scale.js';
import {
  frames,
  post,
  startTestSimulator,
  streamedText,
  TEST_MODELS,
  type RawReply,
  type TestSimulator,
} from '../support/simulator.js';

const HARD_TEXT = '  Grüße 你好 😀 e\u0301 👩‍👩‍👧 שלום\n\n"quoted" \\ \u0000 end ';

let simulator: TestSimulator;

beforeAll(async () => {
  simulator = await startTestSimulator();
});
afterEach(() => simulator.reset());
afterAll(() => simulator.close());

const ask = (content: unknown, more: object = {}): Promise<RawReply> =>
  simulator.chat({ model: 'gpt-4.1', messages: [{ role: 'user', content }], ...more });

function parsed(reply: RawReply): any {
  return JSON.parse(reply.text);
}

describe('startSimulator()', () => {
  it('refuses options that make no sense', async () => {
    const [first] = TEST_MODELS;
    if (first === undefined) throw new Error('no model');
    await expect(startSimulator({ models: [] })).rejects.toThrow('at least one model');
    await expect(startSimulator({ models: [first, first] })).rejects.toThrow('given twice');
    await expect(startSimulator({ models: [first], speed: 0 })).rejects.toThrow('speed');
    await expect(startSimulator({ models: [first], seed: 0.5 })).rejects.toThrow('seed');
  });

  it('says when its port is taken', async () => {
    const port = Number(new URL(simulator.url).port);
    await expect(startSimulator({ models: TEST_MODELS, port })).rejects.toThrow('EADDRINUSE');
  });

  it('ends every connection on close, also one that never gets an answer', async () => {
    const other = await startTestSimulator();
    await other.script({ neverAnswer: true });
    const reply = other.chat({ model: 'gpt-4.1', messages: [{ role: 'user', content: 'hi' }] });
    await other.statsWhen((stats) => stats.inFlight === 1);
    await other.close();
    await other.close();
    expect((await reply).status).toBe(0);
  });
});

describe('GET /v1/models and /v1/usage', () => {
  const get = async (path: string, init?: RequestInit): Promise<[number, any]> => {
    const response = await fetch(`${simulator.url}${path}`, init);
    return [response.status, await response.json()];
  };

  it('lists the catalogue', async () => {
    const [status, body] = await get('/models');
    expect(status).toBe(200);
    expect(body.data.map((model: { id: string }) => model.id)).toEqual(TEST_MODELS.map((model) => model.name));
  });

  it('describes one model, also by its alias', async () => {
    expect(await get('/models/gpt-4.1-2025-04-14')).toEqual([
      200,
      expect.objectContaining({ id: 'gpt-4.1', object: 'model' }),
    ]);
    expect(await get('/models/no%2Fsuch')).toEqual([
      404,
      { error: expect.objectContaining({ code: 'model_not_found' }) },
    ]);
    expect((await get('/models/%E0%A4%A'))[0]).toBe(404);
  });

  it('answers the tier', async () => {
    expect(await get('/usage')).toEqual([200, { tier: 'enterprise', remaining: expect.any(Number) }]);
  });

  it('refuses other paths and methods in the error shape', async () => {
    expect((await get('/nothing'))[0]).toBe(404);
    const [status, body] = await get('/chat/completions');
    expect(status).toBe(405);
    expect(body.error.type).toBe('invalid_request_error');
  });
});

describe('POST /v1/chat/completions', () => {
  it('answers in the shape of OpenAI, with its headers', async () => {
    const reply = await ask('hi');
    expect(reply.status).toBe(200);
    expect(reply.headers).toMatchObject({
      'content-type': 'application/json',
      'x-request-id': expect.stringMatching(/^req_[0-9a-f]{24}$/),
      'openai-processing-ms': expect.stringMatching(/^\d+$/),
      'x-ratelimit-remaining-tokens': expect.stringMatching(/^\d+$/),
      'x-ratelimit-reset-requests': '6ms',
    });
    const body = parsed(reply);
    expect(body).toMatchObject({ object: 'chat.completion', model: 'gpt-4.1' });
    expect(body.choices).toEqual([
      expect.objectContaining({
        index: 0,
        finish_reason: 'stop',
        logprobs: null,
        message: expect.objectContaining({ role: 'assistant' }),
      }),
    ]);
    expect(body.usage.total_tokens).toBe(body.usage.prompt_tokens + body.usage.completion_tokens);
    expect(body.usage).toMatchObject({ prompt_tokens: 1 + 7, completion_tokens_details: { reasoning_tokens: 0 } });
  });

  it('gives the same reply for the same seed and request, streamed or not, and another for another seed', async () => {
    const text = parsed(await ask('tell me')).choices[0].message.content;
    expect(parsed(await ask('tell me', { user: 'x' })).choices[0].message.content).toBe(text);
    expect(streamedText((await ask('tell me', { stream: true })).text)).toBe(text);
    expect(parsed(await ask('tell me', { seed: 1 })).choices[0].message.content).not.toBe(text);
    const twin = await startTestSimulator();
    const other = await startTestSimulator({ seed: 8 });
    const body = { model: 'gpt-4.1', messages: [{ role: 'user', content: 'tell me' }] };
    expect(parsed(await twin.chat(body)).choices[0].message.content).toBe(text);
    expect(parsed(await other.chat(body)).choices[0].message.content).not.toBe(text);
    await Promise.all([twin.close(), other.close()]);
  });

  it('echoes what follows echo:, character by character', async () => {
    expect(parsed(await ask(`echo: ${HARD_TEXT}`)).choices[0].message.content).toBe(HARD_TEXT);
    const parts = [
      { type: 'text', text: 'echo:one ' },
      { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
      { type: 'text', text: 'two' },
    ];
    expect(parsed(await ask(parts)).choices[0].message.content).toBe('one two');
  });

  it('streams any text without ever splitting a code point', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'binary', maxLength: 200 }), async (text) => {
        const reply = await ask(`echo:${text}`, { stream: true });
        expect(streamedText(reply.text)).toBe(Buffer.from(text.replace(/^ /, '')).toString());
        expect(reply.text).not.toContain('\\ud');
      }),
      { numRuns: sized(50, 1_000) },
    );
  });

  it('writes as many words as asked for', async () => {
    expect(parsed(await ask('words:500 please')).choices[0].message.content.split(' ')).toHaveLength(500);
  });

  it('streams role, text, finish reason and [DONE], without usage unless asked', async () => {
    const reply = await ask('echo: one two', { stream: true });
    expect(reply.headers['content-type']).toBe('text/event-stream; charset=utf-8');
    expect(reply.text.endsWith('data: [DONE]\n\n')).toBe(true);
    const chunks = frames(reply.text) as any[];
    expect(chunks[0].choices[0].delta).toEqual({ role: 'assistant', content: '', refusal: null });
    expect(chunks.at(-1).choices).toEqual([{ index: 0, delta: {}, logprobs: null, finish_reason: 'stop' }]);
    for (const chunk of chunks) expect(chunk).not.toHaveProperty('usage');
  });

  it('tells usage in one more chunk without choices when asked, and null before', async () => {
    const chunks = frames((await ask('echo: hi', { stream: true, stream_options: { include_usage: true } })).text);
    const last = chunks.pop();
    expect(last).toMatchObject({ choices: [], usage: { completion_tokens: 1 } });
    for (const chunk of chunks) expect(chunk['usage']).toBeNull();
  });

  it('cuts at max_tokens and at a stop sequence', async () => {
    for (const key of ['max_tokens', 'max_completion_tokens']) {
      const body = parsed(await ask('words:200', { [key]: 10 }));
      expect(body.choices[0].finish_reason).toBe('length');
      expect(body.usage.completion_tokens).toBe(10);
      expect(body.choices[0].message.content.length).toBeGreaterThan(0);
    }
    const stopped = parsed(await ask('echo: one two three', { stop: ['three', ' two'] }));
    expect(stopped.choices[0]).toMatchObject({ finish_reason: 'stop', message: { content: 'one' } });
    const tiny = parsed(await ask('words:500', { model: 'tiny' }));
    expect(tiny).toMatchObject({ choices: [{ finish_reason: 'length' }], usage: { completion_tokens: 50 } });
  });

  it('gives n different choices, also interleaved in a stream', async () => {
    const body = parsed(await ask('hi', { n: 3 }));
    expect(new Set(body.choices.map((choice: any) => choice.message.content)).size).toBe(3);
    const chunks = frames((await ask('hi', { n: 3, stream: true })).text) as any[];
    const texts = ['', '', ''];
    for (const { choices } of chunks) texts[choices[0].index] += choices[0].delta.content ?? '';
    expect(texts).toEqual(body.choices.map((choice: any) => choice.message.content));
  });

  it('reports the cached part of a prompt prefix that it has seen', async () => {
    const history = [{ role: 'system', content: 'lorem ipsum '.repeat(700) }];
    const cached = async (question: string): Promise<number> => {
      const body = { model: 'gpt-4.1', messages: [...history, { role: 'user', content: question }] };
      return parsed(await simulator.chat(body)).usage.prompt_tokens_details.cached_tokens;
    };
    expect(await cached('first')).toBe(0);
    const second = await cached('second');
    expect(second).toBeGreaterThanOrEqual(1_024);
    expect(second % 128).toBe(0);
    expect(parsed(await ask('short')).usage.prompt_tokens_details.cached_tokens).toBe(0);
  });

  it('enforces the context window in the words of OpenAI', async () => {
    const long = parsed(await ask('word '.repeat(250), { model: 'tiny' }));
    expect(long.error).toMatchObject({
      code: 'context_length_exceeded',
      type: 'invalid_request_error',
      param: 'messages',
    });
    expect(long.error.message).toContain('maximum context length is 200 tokens. However, your messages resulted in');
    const both = parsed(await ask('word '.repeat(170), { model: 'tiny', max_tokens: 50 }));
    expect(both.error.code).toBe('context_length_exceeded');
    expect(both.error.message).toContain('50 in the completion');
    const output = parsed(await ask('hi', { model: 'tiny', max_tokens: 51 }));
    expect(output.error).toMatchObject({ param: 'max_tokens', code: 'invalid_value' });
    const left = await ask(`words:99 ${'word '.repeat(180)}`, { model: 'tiny' });
    expect(parsed(left).usage.total_tokens).toBeLessThanOrEqual(200);
  });

  it('accepts a large body with a picture and counts no base64 as text', async () => {
    const url = `data:image/png;base64,${'A'.repeat(9_000_000)}`;
    const reply = await ask([
      { type: 'text', text: 'echo: seen' },
      { type: 'image_url', image_url: { url } },
    ]);
    expect(parsed(reply).choices[0].message.content).toBe('seen');
    expect(parsed(reply).usage.prompt_tokens).toBeLessThan(1_000);
  });
});

describe('POST /v1/chat/completions, refusals', () => {
  it.each([
    ['{', 400, null, null],
    ['[]', 400, 'body', 'invalid_type'],
    ['{}', 400, null, null],
    ['{"model":"gpt-4.1"}', 400, 'messages', 'missing_required_parameter'],
    ['{"model":"gpt-4.1","messages":"hi"}', 400, 'messages', 'invalid_type'],
    ['{"model":"gpt-4.1","messages":[]}', 400, 'messages', 'empty_array'],
    ['{"model":"gpt-4.1","messages":[{"role":"robot","content":"hi"}]}', 400, 'messages[0].role', 'invalid_value'],
    ['{"model":"gpt-4.1","messages":[{"role":"user","content":null}]}', 400, 'messages[0].content', null],
    [
      '{"model":"gpt-4.1","messages":[{"role":"user","content":[{"type":"video"}]}]}',
      400,
      'messages[0].content[0].type',
      'invalid_value',
    ],
    ['{"model":"nope","messages":[{"role":"user","content":"hi"}]}', 404, null, 'model_not_found'],
  ])('answers %s with %i', async (body, status, param, code) => {
    const reply = await post(`${simulator.url}/chat/completions`, body);
    expect(reply.status).toBe(status);
    expect(parsed(reply).error).toEqual({ message: expect.any(String), type: 'invalid_request_error', param, code });
  });

  it.each([
    [{ temperature: 3 }, 'temperature', 'decimal_above_max_value'],
    [{ temperature: 'hot' }, 'temperature', 'invalid_type'],
    [{ n: 0 }, 'n', 'integer_below_min_value'],
    [{ max_tokens: 0 }, 'max_tokens', 'integer_below_min_value'],
    [{ max_tokens: 1.5 }, 'max_tokens', 'invalid_type'],
    [{ stream: 'yes' }, 'stream', 'invalid_type'],
    [{ stream_options: { include_usage: true } }, 'stream_options', null],
    [{ stop: ['1', '2', '3', '4', '5'] }, 'stop', 'array_above_max_length'],
    [{ tools: [] }, 'tools', 'empty_array'],
    [{ tools: [{ type: 'function', function: { name: 'no spaces' } }] }, 'tools[0].function.name', 'invalid_value'],
    [{ tool_choice: 'auto' }, 'tool_choice', null],
    [{ response_format: { type: 'xml' } }, 'response_format.type', 'invalid_value'],
    [{ response_format: { type: 'json_schema' } }, 'response_format.json_schema', 'missing_required_parameter'],
  ])('refuses %j', async (more, param, code) => {
    const reply = await ask('hi', more);
    expect(reply.status).toBe(400);
    expect(parsed(reply).error).toMatchObject({ param, code });
  });

  it('refuses a tool result without its call, and a call without its result', async () => {
    const call = {
      role: 'assistant',
      content: null,
      tool_calls: [{ id: 'c1', type: 'function', function: { name: 'f', arguments: '{}' } }],
    };
    const chat = (messages: object[]): Promise<RawReply> => simulator.chat({ model: 'gpt-4.1', messages });
    const orphan = await chat([
      { role: 'user', content: 'hi' },
      { role: 'tool', tool_call_id: 'c1', content: 'x' },
    ]);
    expect(parsed(orphan).error.message).toContain("messages with role 'tool' must be a response");
    const open = await chat([{ role: 'user', content: 'hi' }, call, { role: 'user', content: 'well?' }]);
    expect(parsed(open).error.message).toContain('did not have response messages: c1');
  });

  it('ignores members that it does not know', async () => {
    expect((await ask('hi', { some_new_field: { a: 1 }, metadata: { a: 'b' }, user: 'u', store: false })).status).toBe(
      200,
    );
  });

  it('answers any JSON body with 200 or a 4xx in the error shape', async () => {
    const loose = fc.record(
      {
        messages: fc.oneof(
          fc.jsonValue(),
          fc.array(fc.record({ role: fc.constantFrom('user', 'assistant', 'tool'), content: fc.jsonValue() })),
        ),
        tools: fc.oneof(fc.jsonValue(), fc.constant([{ type: 'function', function: { name: 'f', parameters: {} } }])),
        response_format: fc.oneof(
          fc.jsonValue(),
          fc.record({
            type: fc.constant('json_schema'),
            json_schema: fc.record({
              name: fc.constant('n'),
              schema: fc.dictionary(fc.constantFrom('type', 'anyOf', '$ref', 'enum', 'items'), fc.jsonValue()),
            }),
          }),
        ),
        tool_choice: fc.jsonValue(),
        stop: fc.jsonValue(),
        n: fc.integer({ min: -1, max: 3 }),
      },
      { requiredKeys: ['messages'] },
    );
    await fc.assert(
      fc.asyncProperty(loose, async (body) => {
        const reply = await simulator.chat({ model: 'gpt-4.1', ...body });
        expect([200, 400, 404]).toContain(reply.status);
        if (reply.status !== 200)
          expect(parsed(reply).error).toMatchObject({ message: expect.any(String), type: 'invalid_request_error' });
      }),
      { numRuns: sized(100, 3_000) },
    );
  });

  it('asks for a key only where keys are given', async () => {
    const closed = await startTestSimulator({ apiKeys: ['sk-right-key'] });
    const body = { model: 'gpt-4.1', messages: [{ role: 'user', content: 'hi' }] };
    expect((await closed.chat(body)).status).toBe(401);
    const wrong = await closed.chat(body, { authorization: 'Bearer sk-wrong-key' });
    expect(parsed(wrong).error.code).toBe('invalid_api_key');
    expect(wrong.text).not.toContain('sk-wrong-key');
    expect((await closed.chat(body, { authorization: 'Bearer sk-right-key' })).status).toBe(200);
    await closed.close();
  });
});

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
  const calls = (reply: RawReply): any[] => parsed(reply).choices[0].message.tool_calls ?? [];

  it('calls the tool that the user message names, with arguments valid for its schema', async () => {
    const reply = await ask('What is the weather in Paris?', { tools: [tool('send_mail'), weather] });
    expect(parsed(reply).choices[0]).toMatchObject({ finish_reason: 'tool_calls', message: { content: null } });
    const [call] = calls(reply);
    expect(call).toMatchObject({
      id: expect.stringMatching(/^call_/),
      type: 'function',
      function: { name: 'get_weather' },
    });
    const given = JSON.parse(call.function.arguments);
    expect(given).toEqual({
      city: expect.any(String),
      unit: expect.stringMatching(/^[CF]$/),
      days: expect.any(Number),
    });
  });

  it('answers in text when no tool is asked for', async () => {
    expect(calls(await ask('echo: hello', { tools: [weather] }))).toEqual([]);
    expect(calls(await ask('the weather?', { tools: [weather], tool_choice: 'none' }))).toEqual([]);
  });

  it('always calls when it must', async () => {
    expect(calls(await ask('echo: hello', { tools: [weather, tool('b')], tool_choice: 'required' }))).toHaveLength(1);
    const named = await ask('echo: hello', {
      tools: [weather, tool('b')],
      tool_choice: { type: 'function', function: { name: 'b' } },
    });
    expect(calls(named)[0].function.name).toBe('b');
  });

  it('calls with exactly the arguments asked for, in parallel unless that is off', async () => {
    const content = 'call:get_weather {"city":"Zürich 😀","unit":"C"}\ncall:send_mail {}';
    const both = calls(await ask(content, { tools: [tool('send_mail'), weather] }));
    expect(both.map((call) => call.function)).toEqual([
      { name: 'get_weather', arguments: '{"city":"Zürich 😀","unit":"C"}' },
      { name: 'send_mail', arguments: '{}' },
    ]);
    expect(new Set(both.map((call) => call.id)).size).toBe(2);
    expect(calls(await ask(content, { tools: [tool('send_mail'), weather], parallel_tool_calls: false }))).toHaveLength(
      1,
    );
  });

  it('streams a call as its name and then fragments of its arguments', async () => {
    const reply = await ask('call:get_weather {"city":"Zürich 😀"}', { tools: [weather], stream: true });
    const deltas = (frames(reply.text) as any[]).flatMap((frame) => frame.choices[0].delta.tool_calls ?? []);
    expect(deltas[0]).toMatchObject({
      index: 0,
      id: expect.any(String),
      function: { name: 'get_weather', arguments: '' },
    });
    expect(deltas.length).toBeGreaterThan(4);
    expect(deltas.map((delta) => delta.function.arguments).join('')).toBe('{"city":"Zürich 😀"}');
    expect((frames(reply.text) as any[]).at(-1).choices[0].finish_reason).toBe('tool_calls');
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
    expect(parsed(reply).choices[0]).toMatchObject({
      finish_reason: 'stop',
      message: { content: 'get_a answered: result a 你好\nget_b answered: result b 你好' },
    });
  });

  it('gives JSON for a response_format', async () => {
    const object = parsed(await ask('give me JSON', { response_format: { type: 'json_object' } }));
    expect(JSON.parse(object.choices[0].message.content)).toEqual({ answer: expect.any(String) });
    const schema = {
      type: 'object',
      properties: { steps: { type: 'array', items: { $ref: '#/$defs/step' } } },
      required: ['steps'],
      $defs: { step: { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] } },
    };
    const format = { type: 'json_schema', json_schema: { name: 'plan', strict: true, schema } };
    const reply = parsed(await ask('plan', { response_format: format }));
    expect(JSON.parse(reply.choices[0].message.content)).toEqual({ steps: [{ n: expect.any(Number) }] });
  });
});
