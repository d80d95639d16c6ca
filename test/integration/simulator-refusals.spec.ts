import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { sized } from '../support/proof-scale.js';
import { errorOf, post, startTestSimulator, type RawReply, type TestSimulator } from '../support/simulator.js';

let simulator: TestSimulator;

beforeAll(async () => {
  simulator = await startTestSimulator();
});
afterEach(() => simulator.reset());
afterAll(() => simulator.close());

const ask = (content: unknown, more: object = {}): Promise<RawReply> =>
  simulator.chat({ model: 'gpt-4.1', messages: [{ role: 'user', content }], ...more });

describe('POST /v1/chat/completions, refusals', () => {
  it.each([
    ['{', 400, null, null],
    ['['.repeat(50_000) + ']'.repeat(50_000), 400, null, null],
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
  ])('answers %.80s with %i', async (body, status, param, code) => {
    const reply = await post(`${simulator.url}/chat/completions`, body);
    expect(reply.status).toBe(status);
    expect(errorOf(reply)).toEqual({ message: expect.any(String), type: 'invalid_request_error', param, code });
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
    expect(errorOf(reply)).toMatchObject({ param, code });
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
    expect(errorOf(orphan).message).toContain("messages with role 'tool' must be a response");
    const open = await chat([{ role: 'user', content: 'hi' }, call, { role: 'user', content: 'well?' }]);
    expect(errorOf(open).message).toContain('did not have response messages: c1');
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
          expect(errorOf(reply)).toMatchObject({ message: expect.any(String), type: 'invalid_request_error' });
      }),
      { numRuns: sized(100, 3_000) },
    );
  });

  it('asks for a key only where keys are given', async () => {
    const closed = await startTestSimulator({ apiKeys: ['sk-right-key'] });
    const body = { model: 'gpt-4.1', messages: [{ role: 'user', content: 'hi' }] };
    expect((await closed.chat(body)).status).toBe(401);
    const wrong = await closed.chat(body, { authorization: 'Bearer sk-wrong-key' });
    expect(errorOf(wrong).code).toBe('invalid_api_key');
    expect(wrong.text).not.toContain('sk-wrong-key');
    expect((await closed.chat(body, { authorization: 'Bearer sk-right-key' })).status).toBe(200);
    await closed.close();
  });
});
