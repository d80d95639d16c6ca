import { Readable } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import { foreignSignatureEdits } from '../../../src/ai/upstream/foreign-signatures.js';
import { OpenAiAdapter } from '../../../src/ai/upstream/openai.adapter.js';
import type { AttemptRequest } from '../../../src/ai/upstream/provider.adapter.js';
import { UndiciTransport, type UpstreamAnswer } from '../../../src/ai/upstream/undici.transport.js';
import { editObject } from '../../../src/ai/wire/json-text.js';

const attempt = (signal = new AbortController().signal): AttemptRequest => ({
  deployment: {
    id: 'acme/m',
    provider: 'acme',
    model: 'm',
    limits: {},
    upstream: { name: 'acme', keyId: 'acme', kind: 'openai', baseUrl: 'http://127.0.0.1:9/v1', apiKey: 'secret-key' },
  },
  bodyText: '{"model":"x","messages":[]}',
  body: { model: 'x', messages: [] },
  headers: {},
  choices: 1,
  maxOutputTokens: 100,
  requestId: 'r',
  connectMs: 3_000,
  signal,
  progressed: () => undefined,
  heard: () => undefined,
});

class FailingTransport extends UndiciTransport {
  constructor(private readonly error: Error) {
    super();
  }

  override send(): Promise<never> {
    return Promise.reject(this.error);
  }
}

class AnsweringTransport extends UndiciTransport {
  constructor(private readonly text: string) {
    super();
  }

  override send(): Promise<UpstreamAnswer> {
    const headers = { 'content-type': 'application/json' };
    return Promise.resolve({ status: 200, headers, body: Readable.from([Buffer.from(this.text)]) });
  }
}

describe('OpenAiAdapter', () => {
  it('calls a connection that was not taken in time a timeout', async () => {
    const error = Object.assign(new Error('Connect Timeout Error'), { code: 'UND_ERR_CONNECT_TIMEOUT' });
    await expect(new OpenAiAdapter(new FailingTransport(error)).complete(attempt())).rejects.toMatchObject({
      code: 'timeout',
      blame: 'upstream',
      message: 'acme took no connection within 3000 ms',
    });
  });

  it('keeps the cause of a failure for the log, and the key out of the message', async () => {
    const cause = Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:9'), { code: 'ECONNREFUSED' });
    await expect(new OpenAiAdapter(new FailingTransport(cause)).stream(attempt())).rejects.toMatchObject({
      code: 'upstream_error',
      message: 'acme could not be reached',
      cause,
    });
  });

  it('throws the reason of its signal as it is', async () => {
    const reason = new Error('left');
    const transport = new FailingTransport(new Error('aborted'));
    await expect(new OpenAiAdapter(transport).complete(attempt(AbortSignal.abort(reason)))).rejects.toBe(reason);
  });

  it('finds nobody at a closed port', async () => {
    const transport = new UndiciTransport();
    await expect(new OpenAiAdapter(transport).complete(attempt())).rejects.toMatchObject({ code: 'upstream_error' });
    await transport.close();
  });
});

describe('a whole answer in OpenAI format', () => {
  const completed = async (text: string) => new OpenAiAdapter(new AnsweringTransport(text)).complete(attempt());
  const answer = (...choices: unknown[]): string => JSON.stringify({ id: 'c', choices });

  it.each([
    ['no choices', '{"id":"c"}'],
    ['choices that are null', '{"choices":null}'],
    ['an empty list', answer()],
    ['a list in the list', answer([])],
    ['null in the list', answer(null)],
    ['a word in the list', answer('Hi')],
    ['an object in place of the list', '{"choices":{"0":{"message":{"content":"Hi"}}}}'],
    ['a choice without a message', answer({ index: 0, finish_reason: 'stop' })],
    ['a message that is null', answer({ message: null })],
    ['a message that is text', answer({ message: 'Hi' })],
    ['a message with nothing in it', answer({ message: { role: 'assistant' } })],
    ['a second choice without a message', answer({ message: { content: 'Hi' } }, {})],
    ['a reason that is no word', answer({ message: { content: 'Hi' }, finish_reason: 7 })],
    ['a failed end', answer({ message: { content: 'Hi' }, finish_reason: 'error' })],
    ['an abort', answer({ message: { content: '' }, finish_reason: 'abort' })],
  ])('is none with %s', async (_, text) => {
    await expect(completed(text)).rejects.toMatchObject({ blame: 'upstream', code: 'upstream_error' });
  });

  it('is of no use, and not to be paid twice, where it ended for a reason of its own before it began', async () => {
    const text = '{"choices":[{"message":{"content":""},"finish_reason":"sensitive"}],"usage":{"prompt_tokens":3}}';
    await expect(completed(text)).rejects.toMatchObject({ blame: 'deployment', usage: { prompt_tokens: 3 } });
  });

  it.each([
    '{"choices":[{"message":{"role":"assistant","content":""},"finish_reason":"stop"}]}',
    ' {"choices" : [{"message":{"content":null,"tool_calls":[{"n":12345678901234567890}]},"finish_reason":null}]}\n',
    '{"choices":[{"message":{"content":"caf\\u00e9 \ud83d\ude00"},"finish_reason":"eos_of_next_year"}],"error":{}}',
    '{"choices":[{"message":{"refusal":"no"}},{"message":{"reasoning":"hm"}}],"x":[1.10]}',
  ])('passes to the last byte: %s', async (text) => {
    expect((await completed(text)).text).toBe(text);
  });
});

describe('foreignSignatureEdits()', () => {
  const edited = (bodyText: string, model: string): string =>
    editObject(bodyText, foreignSignatureEdits(bodyText, model));
  const google = '"extra_content": {"google": {"thought_signature": "s"}}';
  const blocks = '"thinking_blocks": [{"type": "thinking", "thinking": "hm", "signature": "s"}]';
  const body = `{"messages": [ {"role":"user","content":"a"} , {"n": 12345678901234567890, ${blocks}, ${google}, "tool_calls": [{"id": "1", ${google}}]}]}`;

  it('takes out both where the model is nobody that signs, and nothing else', () => {
    expect(edited(body, 'gpt-5')).toBe(
      '{"messages":[{"role":"user","content":"a"},{"n": 12345678901234567890,"tool_calls":[{"id": "1"}]}]}',
    );
  });

  it('leaves to a model what is its own', () => {
    expect(edited(body, 'google/gemini-3-pro')).toContain(`"tool_calls": [{"id": "1", ${google}}]`);
    expect(edited(body, 'google/gemini-3-pro')).not.toContain('thinking_blocks');
    expect(edited(body, 'anthropic/claude-sonnet-4.5')).toContain(blocks);
    expect(edited(body, 'anthropic/claude-sonnet-4.5')).not.toContain('extra_content');
  });

  it('edits nothing where there is none of them, and leaves what only bears the name', () => {
    expect(foreignSignatureEdits('{"messages": [ {"role":"user"} ]}', 'gpt-5')).toEqual({});
    const others = '{"messages":[7,{"thinking_blocks":"x","extra_content":{"other":1},"tool_calls":null}]}';
    expect(edited(others, 'gpt-5')).toBe(others);
    expect(edited('{"messages":{"extra_content":1}}', 'gpt-5')).toBe('{"messages":{"extra_content":1}}');
    expect(edited('{"messages":[{"extra_content":{"google":{"thought_signature":7}}}]}', 'm')).toContain('7');
  });
});
