import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type Answer, CompletionRig, contentOf, messages } from '../support/completion-rig.js';
import { asAsked, inTurn } from '../support/route-rig.js';
import { chunk, completion, DONE, finish, json, RESET, stream } from '../support/scripted-upstream.js';

const ASKED = {
  model: 'test-model',
  messages: [{ role: 'system', content: 'Be brief.' }, ...messages],
  max_tokens: 100,
  max_completion_tokens: 100,
  temperature: 0.5,
  top_p: 0.9,
  seed: 7,
  stop: ['x'],
  presence_penalty: 0.1,
  frequency_penalty: 0.1,
  logit_bias: { '50256': -100 },
  logprobs: true,
  top_logprobs: 2,
  reasoning_effort: 'low',
  response_format: { type: 'json_object' },
  tools: [{ type: 'function', function: { name: 'f', parameters: { type: 'object' } } }],
  tool_choice: 'auto',
  parallel_tool_calls: true,
  service_tier: 'default',
  provider_param: { nested: [1, { deep: true }] },
} as const;

const CHANGES: Readonly<Record<string, unknown>> = {
  model: 'small-model',
  messages: [{ role: 'system', content: 'Be brief!' }, ...messages],
  max_tokens: 101,
  max_completion_tokens: 101,
  temperature: 0.6,
  top_p: 0.8,
  seed: 8,
  stop: ['y'],
  presence_penalty: 0.2,
  frequency_penalty: 0.2,
  logit_bias: { '50256': -99 },
  logprobs: false,
  top_logprobs: 3,
  reasoning_effort: 'high',
  response_format: { type: 'text' },
  tools: [{ type: 'function', function: { name: 'g', parameters: { type: 'object' } } }],
  tool_choice: 'none',
  parallel_tool_calls: false,
  service_tier: 'flex',
  provider_param: { nested: [1, { deep: false }] },
};

describe('the cache of POST /v1/chat/completions', () => {
  let rig: CompletionRig;
  beforeEach(async () => {
    rig = await CompletionRig.start({
      cacheTtl: '300s',
      environment: { CALLER_KEYS: 'acme:pro:acme-key-1234567890,globex:pro:globex-key-1234567890' },
    });
  });
  afterEach(() => rig.close());

  const calls = (): number => rig.upstream.requests.length;
  const ask = (body: unknown = ASKED, headers: Record<string, string> = {}): Promise<Answer> =>
    rig.ask(body, { authorization: 'Bearer acme-key-1234567890', ...headers });
  const met = ({ headers }: Answer): string | null => headers.get('x-coordinator-cache');

  it('gives the same answer again, at no cost, and says so', async () => {
    const first = await ask();
    expect(met(first)).toBe('miss');
    expect(first.headers.get('x-coordinator-cost-usd')).toBe('0.000036');
    const second = await ask();
    expect([second.status, met(second), calls()]).toEqual([200, 'hit', 1]);
    expect(second.body).toEqual({ ...first.body, usage: { ...(first.body['usage'] as object), cost: 0 } });
    expect(first.body['usage']).toMatchObject({ prompt_tokens: 10, cost: 0.000036 });
    expect(second.headers.get('x-coordinator-cost-usd')).toBe('0');
    expect(second.headers.get('x-coordinator-attempts')).toBe('0');
    expect(second.headers.get('x-coordinator-model')).toBe('test-model');
    expect(second.headers.get('x-coordinator-provider')).toBe('p1');
    expect(second.headers.get('x-coordinator-route')).toBe('requested');
  });

  it('names every member in the test of changes', () => {
    expect(Object.keys(CHANGES).sort()).toEqual(Object.keys(ASKED).sort());
  });

  it('row 54: takes no two requests for the same that differ in any member, or lack one', async () => {
    await ask();
    for (const [name, value] of Object.entries(CHANGES)) {
      expect([name, met(await ask({ ...ASKED, [name]: value }))]).toEqual([name, 'miss']);
    }
    for (const name of Object.keys(ASKED)) {
      if (name === 'model' || name === 'messages') continue;
      const less = Object.fromEntries(Object.entries(ASKED).filter(([each]) => each !== name));
      expect([name, met(await ask(less))]).toEqual([name, 'miss']);
    }
    expect(met(await ask({ ...ASKED, never_heard_of: null }))).toBe('miss');
    expect(met(await ask(ASKED, { 'openai-beta': 'assistants=v2' }))).toBe('miss');
    expect(met(await ask())).toBe('hit');
  });

  it('takes numbers by their exact value, and texts by what they say', async () => {
    const text =
      '{"model":"test-model","messages":[{"role":"user","content":"Hi"}],"seed":9007199254740993,"temperature":0.50}';
    const same =
      '{ "temperature" : 5e-1, "seed":9007199254740993.0, "messages":[{"content":"\\u0048i","role":"user"}], "model":"test-model"}';
    const other = text.replace('9007199254740993', '9007199254740992');
    expect(met(await ask(text))).toBe('miss');
    expect(met(await ask(same))).toBe('hit');
    expect(met(await ask(other))).toBe('miss');
  });

  it('minds neither who the end user is, nor labels, nor by which name a model is called', async () => {
    await ask();
    const body = { ...ASKED, user: 'u-1', metadata: { a: 'b' }, stream: false, stream_options: null, cache: true };
    expect(met(await ask(body))).toBe('hit');
    const alias = await ask({ ...ASKED, model: 'test-alias' });
    expect([met(alias), alias.headers.get('x-coordinator-route')]).toEqual(['hit', 'alias']);
    expect(met(await ask({ ...ASKED, model: undefined, models: ['test-alias', 'small-model'] }))).toBe('hit');
    expect(met(await ask(ASKED, { traceparent: `00-${'4b'.repeat(16)}-${'00f0'.repeat(4)}-01` }))).toBe('hit');
    expect(calls()).toBe(1);
  });

  it('row 53: is apart for each caller', async () => {
    await ask();
    expect(met(await ask(ASKED, { authorization: 'Bearer globex-key-1234567890' }))).toBe('miss');
    expect(met(await ask())).toBe('hit');
    expect(calls()).toBe(2);
  });

  it.each([
    ['a 500', json(500, { error: { message: 'no' } }), 502],
    ['a 400', json(400, { error: { message: 'no' } }), 400],
    ['a 429', json(429, { error: { message: 'slow down' } }, { 'retry-after': '3600' }), 429],
  ])('row 55: keeps no error: %s', async (_, failing, status) => {
    rig.upstream.play(failing);
    expect((await ask()).status).toBe(status);
    const before = calls();
    const again = await ask();
    // A deployment may be left alone for a while; what counts is that the error is not played again as an answer.
    expect(again.status).not.toBe(200);
    rig.upstream.play(json(200, completion('better')));
    const { headers } = await ask({ ...ASKED, model: 'small-model' });
    expect(headers.get('x-coordinator-cache')).toBe('miss');
    expect(calls()).toBeGreaterThan(before);
  });

  it('row 55: gives a success after an error, and keeps that', async () => {
    rig.upstream.play(inTurn(json(400, { error: { message: 'no' } }), json(200, completion('better'))));
    expect((await ask()).status).toBe(400);
    expect([await ask(), await ask()].map(met)).toEqual(['miss', 'hit']);
  });

  it('keeps no half answer', async () => {
    const choices = [{ index: 0, message: { role: 'assistant', content: 'Hal' }, finish_reason: null }];
    rig.upstream.play(json(200, completion('', { choices })));
    expect([await ask(), await ask()].map(met)).toEqual(['miss', 'miss']);
    rig.upstream.play(stream([chunk('Hal'), RESET]));
    await ask({ ...ASKED, stream: true });
    rig.upstream.play(stream([chunk('Half'), finish(), DONE]));
    const whole = await ask({ ...ASKED, stream: true });
    expect([met(whole), contentOf(whole.text)]).toEqual(['miss', 'Half']);
  });

  it('keeps an answer that was cut at the limit which the request set', async () => {
    const choices = [{ index: 0, message: { role: 'assistant', content: 'Hal' }, finish_reason: 'length' }];
    rig.upstream.play(json(200, completion('', { choices })));
    expect([await ask(), await ask()].map(met)).toEqual(['miss', 'hit']);
  });

  it.each([
    ['cache: false', { ...ASKED, cache: false }, {}],
    ['n above 1', { ...ASKED, n: 2 }, {}],
    ['no-store', ASKED, { 'cache-control': 'no-store' }],
    ['no-store among others', ASKED, { 'cache-control': 'max-age=60, No-Store' }],
  ])('is passed by on both ways with %s', async (_, body, headers) => {
    expect(met(await ask(body, headers))).toBe('bypass');
    expect(rig.upstream.requests.at(-1)?.body).not.toHaveProperty('cache');
    expect(met(await ask(body, headers))).toBe('bypass');
    expect(met(await ask())).toBe('miss');
    expect(met(await ask(body, headers))).toBe('bypass');
    expect(calls()).toBe(4);
  });

  it.each([[{ ...ASKED, stream: false }], [{ ...ASKED, stream: true }]])(
    'is not read but written with no-cache (%#)',
    async (body) => {
      rig.upstream.play(asAsked('old'));
      await ask(body);
      rig.upstream.play(asAsked('new'));
      expect(met(await ask(body, { 'cache-control': 'no-cache' }))).toBe('bypass');
      const after = await ask(body);
      expect(met(after)).toBe('hit');
      expect(after.text).toContain(body.stream ? '"n"' : 'new');
      expect(calls()).toBe(2);
    },
  );
});
