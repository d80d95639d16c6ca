import { hash } from 'node:crypto';
import { afterEach, describe, expect, it } from '@jest/globals';
import { contentOf } from '../support/completion-rig.js';
import { modelAcross } from '../support/config-file.js';
import { asAsked, RouteRig } from '../support/route-rig.js';
import { completion, json, type Script } from '../support/scripted-upstream.js';

const words = (message: string): object => ({ error: { message, type: 'invalid_request_error', code: null } });

/** A refusal of a prompt that is too long, as each of them words it. */
const TOO_LONG: readonly (readonly [string, number, object])[] = [
  ['OpenAI, by its code', 400, { error: { message: 'Too long.', code: 'context_length_exceeded' } }],
  ['OpenAI, without a code', 400, words("This model's maximum context length is 8192 tokens. However, …")],
  ['Azure', 400, words('Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 509178.')],
  ['sglang', 400, words("The input (5000 tokens) is longer than the model's context length (4096 tokens).")],
  [
    'vLLM',
    400,
    {
      error: {
        message: "This model's maximum context length is 4096 tokens. Please reduce the length.",
        type: 'BadRequestError',
        param: 'input_tokens',
        code: 400,
      },
    },
  ],
  [
    'llama.cpp, by its type and with a 500',
    500,
    { error: { code: 500, message: 'the request is too large', type: 'exceed_context_size_error', n_ctx: 256 } },
  ],
  ['Anthropic', 400, words('prompt is too long: 208656 tokens > 200000 maximum')],
  ['Gemini', 400, words('The input token count (1200293) exceeds the maximum number of tokens allowed (1048576).')],
  [
    'TGI',
    422,
    {
      error: 'Input validation error: `inputs` must have less than 4096 tokens. Given: 4545',
      error_type: 'validation',
    },
  ],
  ['a provider of its own words, known by configuration', 400, words('E1042: zu viele Token')],
];

const provider = { contextErrorPatterns: ['^E1042\\b'] };
const small = { contextWindow: 4_000, maxOutputTokens: 1_000 };
const long = 'a few words of a long prompt, '.repeat(1_000);

describe('models in the place of others', () => {
  let rig: RouteRig;
  afterEach(() => rig.close());

  describe('row 14: a prompt that was too long goes to a larger model, and to the smaller one once only:', () => {
    it.each(TOO_LONG)('%s', async (_, status, body) => {
      rig = await RouteRig.start({
        providers: ['a', 'b', 'c', 'd'],
        provider,
        models: [
          modelAcross(['a', 'b'], 'm', { ...small, fallbacks: ['equal', 'large'] }),
          modelAcross(['c'], 'equal', small),
          modelAcross(['d'], 'large'),
        ],
      });
      rig.play({ a: json(status, body), d: asAsked('hello') });
      for (const isStream of [false, true]) {
        const answer = await rig.ask({ stream: isStream });
        expect([answer.status, isStream ? contentOf(answer.text) : answer.body['model']]).toEqual([
          200,
          isStream ? 'hello' : 'large',
        ]);
        expect(answer.headers.get('x-coordinator-model')).toBe('large');
        expect(answer.headers.get('x-coordinator-route')).toBe('context');
      }
      expect(rig.calls()).toEqual({ a: 2, b: 0, c: 0, d: 2 });
    });

    it('and where there is none, the caller is told by the code that clients know', async () => {
      rig = await RouteRig.start({ providers: ['a', 'b'], provider, models: [modelAcross(['a', 'b'], 'm', small)] });
      rig.play({ a: json(400, words('E1042: zu viele Token')) });
      expect(await rig.ask()).toMatchObject({
        status: 400,
        body: { error: { code: 'context_length_exceeded', message: 'E1042: zu viele Token' } },
      });
      expect(rig.calls()).toEqual({ a: 1, b: 0 });
    });

    it('and a strict caller is told at once', async () => {
      rig = await RouteRig.start({
        providers: ['a', 'b'],
        models: [modelAcross(['a'], 'm', { ...small, fallbacks: ['large'] }), modelAcross(['b'], 'large')],
      });
      rig.play({ a: json(400, { error: { message: 'no', code: 'context_length_exceeded' } }) });
      expect((await rig.ask({}, { 'x-coordinator-strict': 'true' })).status).toBe(400);
      expect(rig.calls()).toEqual({ a: 1, b: 0 });
    });

    it('and it is not even sent to a model that is known to be too small', async () => {
      rig = await RouteRig.start({
        providers: ['a', 'b'],
        models: [modelAcross(['a'], 'm', { ...small, fallbacks: ['large'] }), modelAcross(['b'], 'large')],
      });
      const answer = await rig.ask({ messages: [{ role: 'user', content: long }] });
      expect(answer.headers.get('x-coordinator-route')).toBe('context');
      expect(rig.calls()).toEqual({ a: 0, b: 1 });
    });
  });

  describe('row 16: no way leads a caller to a model outside its tier:', () => {
    const caller = { name: 'free-caller', keySha256: hash('sha256', 'free-key-of-a-caller'), tier: 'free' };
    const asFree = { authorization: 'Bearer free-key-of-a-caller' };
    const tooLong = json(400, { error: { message: 'no', code: 'context_length_exceeded' } });

    const start = async (): Promise<void> => {
      rig = await RouteRig.start({
        providers: ['a', 'b'],
        models: [modelAcross(['a'], 'm', { ...small, fallbacks: ['large'] }), modelAcross(['b'], 'large')],
        file: { tiers: { free: ['m'], pro: ['m'], enterprise: ['m', 'large'] }, callers: [caller] },
      });
    };

    it.each([
      ['a context error', tooLong, 400],
      ['an outage', json(500, {}), 502],
      ['a used-up quota', json(429, { error: { code: 'insufficient_quota' } }), 429],
      ['a refused key', json(401, {}), 502],
      ['a rate limit beyond all patience', json(429, {}, { 'retry-after': '3600' }), 429],
    ] satisfies readonly [string, Script, number][])('not %s', async (_, script, status) => {
      await start();
      rig.play({ a: script });
      expect((await rig.ask({}, asFree)).status).toBe(status);
      expect((await rig.ask({ stream: true }, asFree)).status).toBeGreaterThanOrEqual(400);
      expect(rig.calls()['b']).toBe(0);
    });

    it('not a prompt that is oversized on purpose, nor asking for it by name', async () => {
      await start();
      rig.play({ a: tooLong });
      await rig.ask({ messages: [{ role: 'user', content: long }] }, asFree);
      await rig.ask({ models: ['m', 'large'] }, asFree);
      const named = await rig.ask({ model: 'large' }, { ...asFree, 'x-coordinator-strict': 'true' });
      expect(named).toMatchObject({ status: 403, body: { error: { code: 'model_not_allowed' } } });
      expect(rig.calls()['b']).toBe(0);
    });

    it('but another one may go there', async () => {
      const key = 'enterprise-key-of-a-caller';
      const enterprise = { name: 'big-caller', keySha256: hash('sha256', key), tier: 'enterprise' };
      rig = await RouteRig.start({
        providers: ['a', 'b'],
        models: [modelAcross(['a'], 'm', { ...small, fallbacks: ['large'] }), modelAcross(['b'], 'large')],
        file: { tiers: { free: ['m'], pro: ['m'], enterprise: ['m', 'large'] }, callers: [caller, enterprise] },
      });
      rig.play({ a: tooLong });
      expect((await rig.ask({}, { authorization: `Bearer ${key}` })).status).toBe(200);
      expect(rig.calls()).toEqual({ a: 1, b: 1 });
    });
  });

  it('falls back on a model by an explicit list, in its order, and on no other', async () => {
    rig = await RouteRig.start({
      providers: ['a', 'b', 'c'],
      models: [modelAcross(['a'], 'm', { fallbacks: ['x'] }), modelAcross(['b'], 'n'), modelAcross(['c'], 'x')],
    });
    rig.play({ a: json(500, {}), b: json(200, completion('from n')) });
    const answer = await rig.ask({ models: ['m', 'n'] });
    expect(answer.headers.get('x-coordinator-model')).toBe('n');
    expect(answer.headers.get('x-coordinator-route')).toBe('error');
    expect(rig.calls()).toEqual({ a: 2, b: 1, c: 0 });
  });
});
