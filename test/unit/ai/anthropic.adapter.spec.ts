import { Readable } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import { AnthropicAdapter } from '../../../src/ai/upstream/anthropic/anthropic.adapter.js';
import { UndiciTransport, type UpstreamAnswer, type UpstreamCall } from '../../../src/ai/upstream/undici.transport.js';
import { attemptAt, reply, textReply } from '../../contract/provider.attempts.js';
import { collected } from '../../contract/provider.collector.js';
import { anthropicWire } from '../../support/fakes/anthropic.fake.js';

const upstream = {
  name: 'anthropic',
  keyId: 'anthropic',
  kind: 'anthropic' as const,
  baseUrl: 'http://127.0.0.1:9/v1',
  apiKey: 'secret-key',
};
const attempt = (members: Readonly<Record<string, unknown>> = {}) => attemptAt({ upstream }, members);
const event = (value: Readonly<Record<string, unknown>> & { readonly type: string }): string =>
  `event: ${value.type}\ndata: ${JSON.stringify(value)}\n\n`;

/** Answers every call alike, and remembers what it was sent. */
class OneAnswer extends UndiciTransport {
  readonly bodies: unknown[] = [];

  constructor(
    private readonly text: string,
    private readonly type = 'text/event-stream',
  ) {
    super();
  }

  override send({ body = '' }: UpstreamCall): Promise<UpstreamAnswer> {
    this.bodies.push(JSON.parse(body));
    return Promise.resolve({
      status: 200,
      headers: { 'content-type': this.type },
      body: Readable.from([Buffer.from(this.text)]),
    });
  }
}

describe('AnthropicAdapter', () => {
  it('streams what may take longer than a silent connection lives, and puts it together', async () => {
    const said = reply([
      { kind: 'reasoning', text: 'hm' },
      { kind: 'text', text: 'Hello!' },
      { kind: 'call', id: 'c', name: 'f', arguments: '{"id":12345678901234567890}' },
    ]);
    const transport = new OneAnswer(anthropicWire.frames(said).join(''));
    let pieces = 0;
    const { value } = await new AnthropicAdapter(transport, () => 1_700_000_000_999).complete({
      ...attempt({ max_tokens: 21_334 }),
      progressed: () => (pieces += 1),
    });
    expect(transport.bodies).toMatchObject([{ max_tokens: 21_334, stream: true }]);
    expect(pieces).toBeGreaterThan(0);
    expect(value).toEqual({
      id: 'msg_013Zva2CMHLNnXjNJJKqJ2EF',
      object: 'chat.completion',
      created: 1_700_000_000,
      model: 'claude-sonnet-4-5-20250929',
      service_tier: 'default',
      choices: [
        {
          index: 0,
          message: {
            role: 'assistant',
            content: 'Hello!',
            refusal: null,
            reasoning_content: 'hm',
            thinking_blocks: [{ type: 'thinking', thinking: 'hm', signature: expect.stringMatching(/=$/) }],
            tool_calls: [
              { id: 'c', type: 'function', function: { name: 'f', arguments: '{"id":12345678901234567890}' } },
            ],
          },
          logprobs: null,
          finish_reason: 'tool_calls',
        },
      ],
      usage: {
        prompt_tokens: 12,
        completion_tokens: 7,
        total_tokens: 19,
        prompt_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
      },
    });
  });

  it('does not stream what is short', async () => {
    const transport = new OneAnswer(JSON.stringify(anthropicWire.json(textReply('Hi'))), 'application/json');
    await new AnthropicAdapter(transport).complete(attempt({ max_tokens: 21_333 }));
    expect(transport.bodies).toEqual([expect.not.objectContaining({ stream: expect.anything() })]);
  });

  it('tells a whole answer exactly as the stream of it', async () => {
    const said = reply([
      { kind: 'reasoning', text: 'hm' },
      { kind: 'text', text: 'Hello 😀' },
      { kind: 'call', id: 'c1', name: 'f', arguments: '{}' },
      { kind: 'call', id: 'c2', name: 'g', arguments: '{"a":[1]}' },
    ]);
    const now = (): number => 0;
    const whole = new OneAnswer(JSON.stringify(anthropicWire.json(said)), 'application/json');
    const streamed = new OneAnswer(anthropicWire.frames(said).join(''));
    const [one, other] = await Promise.all(
      [whole, streamed].map((transport) => new AnthropicAdapter(transport, now).complete(attempt())),
    );
    expect(one?.value).toEqual(other?.value);
  });

  it('keeps the numbers that the model wrote for a tool', async () => {
    const input = '{"id":12345678901234567890,"price":1.10,"text":"\\"99999999999999999999\\""}';
    const called = reply([{ kind: 'call', id: 'c', name: 'f', arguments: '{"x":1}' }]);
    const text = JSON.stringify(anthropicWire.json(called)).replace('{"x":1}', input);
    const transport = new OneAnswer(text, 'application/json');
    const { value } = await new AnthropicAdapter(transport).complete(attempt());
    expect(value['choices']).toMatchObject([{ message: { tool_calls: [{ function: { arguments: input } }] } }]);
  });

  it('takes neither the head of a message nor a ping for progress', async () => {
    const [start = '', ping = ''] = anthropicWire.frames(textReply('Hello!'));
    let pieces = 0;
    const answer = new AnthropicAdapter(new OneAnswer(start + ping)).complete({
      ...attempt({ max_tokens: 60_000 }),
      progressed: () => (pieces += 1),
    });
    await expect(answer).rejects.toMatchObject({ blame: 'upstream' });
    expect(pieces).toBe(0);
  });

  it('tells tokens that were written to the cache, which have their own price', async () => {
    const usage = {
      input_tokens: 10,
      cache_creation_input_tokens: 2_051,
      cache_read_input_tokens: 100,
      cache_creation: { ephemeral_5m_input_tokens: 51, ephemeral_1h_input_tokens: 2_000 },
      output_tokens: 5,
    };
    const transport = new OneAnswer(anthropicWire.frames(textReply('x', { native: { usage } })).join(''));
    expect((await new AnthropicAdapter(transport).complete(attempt())).value['usage']).toEqual({
      prompt_tokens: 2_161,
      completion_tokens: 5,
      total_tokens: 2_166,
      prompt_tokens_details: { cached_tokens: 100, cache_write_tokens: 2_051, cache_write_1h_tokens: 2_000 },
    });
  });

  it('does not add up what a stream says twice, nor forget what it says once', async () => {
    const start = {
      input_tokens: 2_679,
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: 21,
      output_tokens: 3,
    };
    const end = { input_tokens: 10_682, cache_read_input_tokens: null, output_tokens: 510 };
    const frames = [
      event({ type: 'message_start', message: { id: 'm', model: 'x', usage: start } }),
      event({ type: 'message_delta', delta: {}, usage: { input_tokens: null, output_tokens: 100 } }),
      event({ type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: end }),
      event({ type: 'message_stop' }),
    ];
    const { usage } = await collected(await new AnthropicAdapter(new OneAnswer(frames.join(''))).stream(attempt()));
    expect(usage).toMatchObject({ prompt_tokens: 10_703, completion_tokens: 510, total_tokens: 11_213 });
  });

  it('passes a ping on as a sign of life, which no caller takes for content', async () => {
    const frames = anthropicWire.frames(textReply('one two three'));
    const at = frames.findIndex((frame) => frame.includes('one')) + 1;
    const transport = new OneAnswer([...frames.slice(0, at), anthropicWire.keepAlive, ...frames.slice(at)].join(''));
    const { content, kinds } = await collected(await new AnthropicAdapter(transport).stream(attempt()));
    expect(content).toBe('one two three');
    expect(kinds.slice(-4)).toEqual(['chunk', 'comment', 'chunk', 'done']);
  });

  it('passes over what it does not know, as the protocol asks', async () => {
    const [start = '', ...frames] = anthropicWire.frames(textReply('Hello!'));
    const unknown = [
      event({ type: 'a_kind_of_next_year' }),
      event({ type: 'content_block_start', index: 7, content_block: { type: 'server_tool_use', id: 's' } }),
      event({ type: 'content_block_delta', index: 7, delta: { type: 'input_json_delta', partial_json: '{}' } }),
      event({ type: 'content_block_stop', index: 7 }),
    ];
    const transport = new OneAnswer([start, ...unknown, ...frames].join(''));
    expect(await collected(await new AnthropicAdapter(transport).stream(attempt()))).toMatchObject({
      content: 'Hello!',
      calls: [],
    });
  });

  it('says why a model would not go on, where it is told', async () => {
    const whole = { ...(anthropicWire.json(textReply('I', { finish: 'content_filter' })) as object) };
    const stopped = { ...whole, stop_details: { type: 'refusal', category: 'bio', explanation: 'It could harm.' } };
    const transport = new OneAnswer(JSON.stringify(stopped), 'application/json');
    expect((await new AnthropicAdapter(transport).complete(attempt())).value['choices']).toMatchObject([
      { finish_reason: 'content_filter', message: { refusal: 'It could harm.' } },
    ]);
  });

  it.each([
    ['a block that has not begun', [{ type: 'content_block_delta', index: 3, delta: {} }]],
    ['an end without a reason', [{ type: 'message_stop' }]],
    ['a start without its message', [{ type: 'message_start' }]],
    ['a block that is none', [{ type: 'content_block_start', index: 0 }]],
  ])('does not take for an answer: %s', async (_, events) => {
    const start = { type: 'message_start', message: { id: 'm', model: 'x', usage: {} } };
    const transport = new OneAnswer([start, ...events].map((each) => event(each)).join(''));
    const stream = await new AnthropicAdapter(transport).stream(attempt());
    await expect(collected(stream)).rejects.toMatchObject({ blame: 'upstream', code: 'upstream_error' });
  });

  it.each([
    ['invalid_request_error', 'request', 'invalid_request'],
    ['authentication_error', 'key', 'upstream_auth'],
    ['billing_error', 'key', 'insufficient_quota'],
    ['permission_error', 'key', 'upstream_auth'],
    ['not_found_error', 'deployment', 'upstream_error'],
    ['request_too_large', 'request', 'request_too_large'],
    ['rate_limit_error', 'upstream', 'rate_limit_exceeded'],
    ['api_error', 'upstream', 'upstream_error'],
    ['timeout_error', 'upstream', 'timeout'],
    ['overloaded_error', 'upstream', 'overloaded'],
    ['an_error_of_next_year', 'upstream', 'upstream_error'],
  ])('takes %s within a 200 as it would take its status', async (type, blame, code) => {
    const error = { type: 'error', error: { type, message: 'words' } };
    const failure = { blame, code };
    const streamed = new AnthropicAdapter(new OneAnswer(event(error)));
    await expect(collected(await streamed.stream(attempt()))).rejects.toMatchObject(failure);
    await expect(streamed.complete(attempt({ max_tokens: 60_000 }))).rejects.toMatchObject(failure);
    const whole = new AnthropicAdapter(new OneAnswer(JSON.stringify(error), 'application/json'));
    await expect(whole.complete(attempt())).rejects.toMatchObject(failure);
    await expect(whole.stream(attempt())).rejects.toMatchObject(failure);
  });
});
