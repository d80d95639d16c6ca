import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { ApiError, STATUS_TABLE } from '../../src/http/index.js';
import { ConversationRig, told } from '../support/conversation-rig.js';
import { delta, failing, later, type Script, stop, text, usage } from '../support/scripted-generator.js';

let rig: ConversationRig;
let path: string;
beforeAll(async () => {
  rig = await ConversationRig.start();
});
afterAll(() => rig.close());
beforeEach(async () => {
  path = await rig.create();
});

/** Says nothing but this. */
const only = (...chunks: readonly Record<string, unknown>[]): Script =>
  async function* () {
    await later(0);
    yield* chunks;
  };

describe('POST /v1/conversations/{id}/turns', () => {
  it('answers with the turn, keeps both messages, and tells the model the whole conversation', async () => {
    path = await rig.create({ system: 'Be brief.' });
    const first = await rig.turn(path, 'Hello');
    expect(first.body).toMatchObject({
      ...{ object: 'turn', status: 'complete', model: 'wide', error: null },
      user: { seq: 1, role: 'user', content: 'Hello', status: 'complete' },
      assistant: { seq: 2, content: 'you said: Hello', model: 'answerer', finish_reason: 'stop' },
      usage: { total_tokens: 7 },
      window: { firstSeq: 1, lastSeq: 1, messages: 1, droppedMessages: 0 },
    });
    expect(first.headers.get('etag')).toBe('"2-1"');
    await rig.turn(path, 'And now?');
    expect(rig.generator.messages()).toEqual([
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'Hello' },
      { role: 'assistant', content: 'you said: Hello' },
      { role: 'user', content: 'And now?' },
    ]);
    expect((await rig.log(path)).map(({ seq }) => seq)).toEqual([1, 2, 3, 4]);
  });

  it('passes on what it does not know, and asks for a stream with its usage', async () => {
    const tools = [{ type: 'function', function: { name: 'f', parameters: {} } }];
    await rig.turn(path, { content: 'Hi', temperature: 0.2, tools, model: 'small', max_tokens: 5, stream: false });
    expect(rig.generator.calls.at(-1)?.request.body).toEqual({
      ...{ temperature: 0.2, tools, model: 'small', max_tokens: 5, stream: true },
      ...{ stream_options: { include_usage: true }, messages: [{ role: 'user', content: 'Hi' }] },
    });
  });

  it('takes content parts, and tells them to the model as they are', async () => {
    const content = [
      { type: 'text', text: 'What is it?' },
      { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA', detail: 'low' } },
    ];
    expect((await rig.turn(path, { content })).body).toMatchObject({ user: { content } });
    expect(rig.generator.messages()).toEqual([{ role: 'user', content }]);
  });

  it('makes texts well-formed: lone surrogates and NUL (window rule: normalise on input)', async () => {
    await rig.turn(path, '{"content": "a\\ud800b\\u0000c", "user": "x"}');
    const raw = await rig.ask('POST', `${path}/turns`, '{"content": "a\\ud800b\\u0000c"}');
    expect(raw.body).toMatchObject({ user: { content: 'a\uFFFDbc' } });
  });

  it.each([
    [{}, 'content'],
    [{ content: '' }, 'content'],
    [{ content: ' \n\t' }, 'content'],
    [{ content: '\u0000' }, 'content'],
    [{ content: 5 }, 'content'],
    [{ content: [] }, 'content'],
    [{ content: [{ type: 'text', text: ' ' }] }, 'content'],
    [{ content: [{ text: 'x' }] }, 'content[0]'],
    [{ content: [{ type: 'text' }] }, 'content[0].text'],
    [{ content: 'x', model: '' }, 'model'],
    [{ content: 'x', max_tokens: 0 }, 'max_tokens'],
    [{ content: 'x', stream: 'yes' }, 'stream'],
    [{ content: 'x', n: 2 }, 'n'],
    [{ content: 'x', messages: [] }, 'messages'],
    [{ tool_results: [] }, 'tool_results'],
    [{ tool_results: [{ content: 'x' }] }, 'tool_results[0]'],
    [{ tool_results: [{ tool_call_id: 'c', content: 'x' }] }, 'tool_results[0].tool_call_id'],
  ])('refuses %j, naming %s, and stores nothing', async (body, param) => {
    const calls = rig.generator.calls.length;
    const answer = await rig.turn(path, body);
    expect([answer.status, answer.body]).toEqual([
      400,
      { error: expect.objectContaining({ code: 'invalid_request', param }) },
    ]);
    expect([await rig.log(path), rig.generator.calls.length]).toEqual([[], calls]);
  });

  it('refuses a model that there is not, before anything is stored', async () => {
    const answer = await rig.turn(path, { content: 'x', model: 'nope' });
    expect([answer.status, answer.body]).toMatchObject([404, { error: { code: 'model_not_found', param: 'model' } }]);
    expect(await rig.log(path)).toEqual([]);
  });

  it('sends text that looks like a special token as it is (conversations, case 12)', async () => {
    const answer = await rig.turn(path, '<|endoftext|>');
    expect([answer.status, rig.generator.messages()]).toEqual([200, [{ role: 'user', content: '<|endoftext|>' }]]);
  });
});

describe('a turn whose model fails', () => {
  it('keeps what came, as incomplete, and says why (case 15)', async () => {
    rig.generator.play(failing(new ApiError('upstream_error', 'it broke off'), 'one ', 'two'));
    const { status, body } = await rig.turn(path, 'Hi');
    expect([status, body]).toMatchObject([
      200,
      { status: 'incomplete', assistant: { content: 'one two' }, error: { code: 'upstream_error' } },
    ]);
    expect(told(await rig.log(path))).toEqual(['user complete: Hi', 'assistant incomplete: one two']);
    await rig.turn(path, 'Go on');
    expect(rig.generator.messages().map(({ content }) => content)).toEqual(['Hi', 'one two', 'Go on']);
  });

  it('takes an answer without an end for incomplete', async () => {
    rig.generator.play(only(text('half')));
    expect((await rig.turn(path, 'Hi')).body).toMatchObject({ status: 'incomplete', assistant: { content: 'half' } });
  });

  it('tells the error where nothing came; the pair is shown, and never sent', async () => {
    rig.generator.play(failing(new ApiError('rate_limit_exceeded', 'later', { retryAfterMs: 5_000 })));
    const answer = await rig.turn(path, 'Hi');
    expect([answer.status, answer.body, answer.headers.get('retry-after-ms')]).toMatchObject([
      429,
      { error: { code: 'rate_limit_exceeded', turn_id: expect.stringMatching(/^turn_/) } },
      '5000',
    ]);
    expect(answer.headers.get('retry-after')).toBe('5');
    expect(told(await rig.log(path))).toEqual(['user failed: Hi', 'assistant failed: ']);
    await rig.turn(path, 'Again');
    expect(rig.generator.messages()).toEqual([{ role: 'user', content: 'Again' }]);
  });

  it('tells a failure again to who repeats its key', async () => {
    rig.generator.play(failing(new ApiError('upstream_error', 'broken')));
    const keyed = () => rig.turn(path, 'Hi', { headers: { 'idempotency-key': 'k' } });
    const answer = await keyed();
    expect([answer.status, answer.headers.get('x-should-retry')]).toEqual([502, 'false']);
    expect((await keyed()).body).toEqual(answer.body);
  });

  it.each(['rate_limit_exceeded', 'insufficient_quota', 'overloaded', 'draining', 'store_unavailable'] as const)(
    'tries anew what was refused (%s), under the same key and If-Match, once',
    async (code) => {
      const refusing = failing(new ApiError(code, 'no room', { retryAfterMs: 1_500 }));
      rig.generator.play(refusing, refusing);
      const headers = { 'idempotency-key': 'k', 'if-match': '"0-1"' };
      for (let tries = 0; tries < 2; tries += 1) {
        const { status, body, headers: told } = await rig.turn(path, 'Hi', { headers });
        expect([status, told.get('retry-after-ms')]).toEqual([STATUS_TABLE[code].status, '1500']);
        expect(body).toMatchObject({ error: { code } });
      }
      expect((await rig.turn(path, 'Ho', { headers })).status).toBe(422);
      const calls = rig.generator.calls.length;
      const answers = await Promise.all([1, 2, 3].map(() => rig.turn(path, 'Hi', { headers })));
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
      expect(new Set(answers.map(({ body }) => body['id'])).size).toBe(1);
      expect(rig.generator.calls.length - calls).toBe(1);
      expect(rig.generator.messages()).toEqual([{ role: 'user', content: 'Hi' }]);
    },
  );

  it('answers again under the same key, where that was refused', async () => {
    const { body } = await rig.turn(path, 'Hi');
    rig.generator.play(failing(new ApiError('overloaded', 'no room')));
    const again = () =>
      rig.ask('POST', `${path}/turns/${String(body['id'])}/regenerate`, {}, { headers: { 'idempotency-key': 'k' } });
    expect([(await again()).status, (await again()).status]).toEqual([503, 200]);
    expect(rig.generator.messages()).toEqual([{ role: 'user', content: 'Hi' }]);
    expect((await rig.log(path)).filter(({ superseded }) => superseded).length).toBeGreaterThan(0);
  });

  it('takes an empty answer for a failure, and sends no empty message later (case 24)', async () => {
    for (const nothing of [only(stop()), only(), only(text('  '), stop())]) {
      rig.generator.play(nothing);
      const answer = await rig.turn(path, 'Hi');
      expect([answer.status, answer.body]).toMatchObject([502, { error: { code: 'upstream_error' } }]);
    }
    await rig.turn(path, 'Again');
    expect(rig.generator.messages()).toEqual([{ role: 'user', content: 'Again' }]);
  });

  it.each(['length', 'content_filter'])('shows an answer that %s ended before its first word', async (reason) => {
    rig.generator.play(only(stop(reason), usage), only(text(' '), stop(reason), usage));
    const ask = () => rig.ask('POST', `${path}/turns`, { content: 'Hi' }, { headers: { 'idempotency-key': 'k' } });
    const { status, body } = await ask();
    const reply = { content: '', status: 'incomplete', finish_reason: reason };
    const turn = { status: 'incomplete', error: null, usage: { completion_tokens: 2 }, assistant: reply };
    expect([status, body]).toMatchObject([200, turn]);
    expect((await ask()).body).toEqual(body);
    const at = `${path}/turns/${String(body['id'])}`;
    expect((await rig.ask('GET', at)).body).toEqual(body);
    const again = await rig.ask('POST', `${at}/regenerate`, { stream: true });
    expect(again.text).toMatch(/\nevent: done\ndata: .*"status":"incomplete".*\n\n$/);
    await rig.turn(path, 'Again');
    expect(rig.generator.messages().map(({ content }) => content)).toEqual(['Hi', 'Again']);
  });

  it('tells nothing of an error that nobody foresaw, and logs it', async () => {
    rig.generator.play(failing(new TypeError('secret detail')));
    const answer = await rig.turn(path, 'Hi');
    expect([answer.status, answer.text]).toEqual([500, expect.not.stringContaining('secret detail')]);
    expect(rig.pod.logs.join('')).toContain('secret detail');
  });

  it('keeps a refusal as what the model said', async () => {
    rig.generator.play(only(delta({ refusal: 'I will not.' }), stop()));
    expect((await rig.turn(path, 'Hi')).body).toMatchObject({
      status: 'complete',
      assistant: { content: 'I will not.' },
    });
  });
});

describe('POST /v1/chat', () => {
  const chat = (user: string, message: string, caller = 'acme') =>
    rig.ask('POST', '/v1/chat', { user_id: user, message }, { caller });

  it('keeps one conversation per user of the caller', async () => {
    const first = await chat('ada', 'Hello');
    const second = await chat('ada', 'Again');
    expect([first.status, second.body['conversation_id']]).toEqual([200, first.body['conversation_id']]);
    expect(rig.generator.messages().map(({ content }) => content)).toEqual(['Hello', 'you said: Hello', 'Again']);
    const elsewhere = [await chat('bob', 'Hi'), await chat('ada', 'Hi', 'other')];
    for (const { body } of elsewhere) expect(body).toMatchObject({ user: { seq: 1 }, status: 'complete' });
    const card = await rig.ask('GET', `/v1/conversations/${String(first.body['conversation_id'])}`);
    expect(card.body).toMatchObject({ metadata: { user_id: 'ada' }, seq: 4 });
  });

  it('takes any name of a user, and refuses what is none', async () => {
    expect((await chat('https://id.example/ü?x=1', 'Hi')).status).toBe(200);
    for (const body of [
      { message: 'x' },
      { user_id: '', message: 'x' },
      { user_id: 'a' },
      { user_id: 'a', message: ' ' },
    ])
      expect((await rig.ask('POST', '/v1/chat', body)).status).toBe(400);
  });
});
