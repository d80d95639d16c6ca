import { describe, expect, it } from '@jest/globals';
import { CHAOS_DEADLINE_MS, type ChaosModel } from '../../support/chaos-fleet.js';
import { type ChaosEnd, type ChaosRequest, chaosRequest } from '../../support/chaos-traffic.js';
import { faultsOf } from '../../support/chaos-verdict.js';
import type { WireCall } from '../../support/chaos-wire.js';

/** Far behind the marked ones. */
const request: ChaosRequest = {
  ...chaosRequest(1, 9_999),
  tier: 'pro',
  models: ['medium'],
  isStrict: false,
  isStream: false,
  isWrong: false,
  isOversized: false,
  timeoutMs: undefined,
  leaveAfterMs: undefined,
};
const usage = {
  prompt_tokens: 1_000,
  completion_tokens: 10,
  total_tokens: 1_010,
  prompt_tokens_details: { cached_tokens: 600 },
};
/** 400 x 2 + 600 x 0.5 + 10 x 8, in millionths of a dollar. */
const cost = 0.00118;

const OVERLOADED = { error: { message: 'left alone', type: 'server_error', code: 'overloaded' } };

describe('the verdict on a chaos run', () => {
  it('has nothing against a right answer, and a right stream', () => {
    expect(faultsOf({ ends: [answered()], calls: [call()] })).toEqual([]);
    expect(faultsOf({ ends: [streamed()], calls: [call()] })).toEqual([]);
  });

  it('has nothing against an error after everybody was asked or had failed', () => {
    const asked = ['c/medium/1-good', 'c/medium/4-good', 'd/medium/1-good'].map((deployment) => failed(deployment));
    const out = ['d/medium/4-good', 'a/basic/1-good', 'a/basic/4-good'].flatMap(before);
    const limited = { ...failed('e/basic/1-good'), id: 'limited', endedAt: 50, asksToWait: true };
    const calls = [...asked, ...out, limited, failed('e/basic/4-good')];
    expect(faultsOf({ ends: [refused('4'), ...others(calls)], calls })).toEqual([]);
  });

  it.each<[string, Partial<ChaosEnd>, readonly WireCall[]]>([
    ['a model that is not of the tier', {}, [call({ model: 'large', deployment: 'a/large/1-good' })]],
    ['a model that is neither named nor a fallback', {}, [call({ model: 'tiny', deployment: 'b/tiny/1-good' })]],
    ['a fallback of a strict caller', { request: { ...request, isStrict: true } }, [call({ model: 'basic' })]],
    ['a fallback behind a list', { request: { ...request, models: ['medium', 'medium'] } }, [call({ model: 'basic' })]],
  ])('finds a call of %s', (_, end, calls) => {
    const { model, provider } = calls[0] ?? call();
    const names = { 'x-coordinator-model': model, 'x-coordinator-provider': provider };
    const faults = faultsOf({ ends: [answered(end, names, { model })], calls });
    expect(faults).toEqual([expect.stringContaining(`called ${model}`)]);
  });

  it('finds more calls than a request, or a deployment, may have', () => {
    const many = ['c', 'd'].flatMap((provider) => ['1-good', '4-good'].map((key) => `${provider}/medium/${key}`));
    const seven = [...many, ...many.slice(0, 2)].map((deployment) => failed(deployment));
    expect(faultsOf({ ends: [answered({}, { 'x-coordinator-attempts': '7' })], calls: [...seven, call()] })).toEqual([
      expect.stringContaining('7 calls'),
      expect.stringContaining('3 calls of c/medium/1-good'),
    ]);
    expect(faultsOf({ ends: [answered({ hasLeft: true })], calls: [...seven, call()] })).toHaveLength(2);
  });

  it('finds a call that was made for nobody, and attempts that are not told', () => {
    const stray = call({ id: 'nobody' });
    expect(faultsOf({ ends: [answered()], calls: [call(), stray] })).toEqual(['nobody: a call for nobody']);
    expect(faultsOf({ ends: [answered()], calls: [failed('d/medium/1-good'), call()] })).toEqual([
      expect.stringContaining('says 1 attempts of 2'),
    ]);
  });

  it('finds an error while somebody who was allowed was fine', () => {
    const faults = faultsOf({ ends: [refused('0')], calls: [] });
    expect(faults.map((fault) => /though (\S+) was fine/.exec(fault)?.[1])).toEqual(
      ['c/medium', 'd/medium', 'a/basic', 'e/basic'].flatMap((place) => [`${place}/1-good`, `${place}/4-good`]),
    );
  });

  it('takes nobody for out who has answered since', () => {
    const strict = { ...request, isStrict: true };
    const calls = ['c', 'd'].flatMap((provider) =>
      ['1-good', '4-good'].flatMap((key) => before(`${provider}/medium/${key}`)),
    );
    const end = refused('0', { request: strict });
    expect(faultsOf({ ends: [end, ...others(calls)], calls })).toEqual([]);
    const back = call({ id: 'back', deployment: 'd/medium/4-good', startedAt: 80, endedAt: 95 });
    expect(faultsOf({ ends: [end, ...others([...calls, back])], calls: [...calls, back] })).toEqual([
      expect.stringContaining('refused though d/medium/4-good was fine'),
    ]);
  });

  it('finds an error though a provider answered, and one that is nobody’s', () => {
    expect(faultsOf({ ends: [refused('1')], calls: [call()] })).toEqual([
      expect.stringContaining('refused though a provider answered'),
    ]);
    const unforeseen = refused('0', { status: 500, endedAt: 100 + CHAOS_DEADLINE_MS });
    expect(faultsOf({ ends: [unforeseen], calls: [] })).toEqual([expect.stringContaining('refused with 500')]);
    const wordless = refused('0', { text: '{"error":{}}' });
    expect(faultsOf({ ends: [wordless], calls: [] })).toEqual([expect.stringContaining('without saying why')]);
  });

  it('finds an end after the deadline, and no end at all', () => {
    expect(faultsOf({ ends: [answered({ tookMs: CHAOS_DEADLINE_MS + 1_500 })], calls: [call()] })).toEqual([
      expect.stringContaining('took 7500 ms'),
    ]);
    expect(faultsOf({ ends: [ended({ status: 0, text: 'socket hang up' })], calls: [] })).toEqual([
      expect.stringContaining('no answer at all'),
    ]);
  });

  it.each([
    ['has no [DONE] and no error', (text: string) => text.replace('data: [DONE]\n\n', ''), 'silently short'],
    ['lacks its finish_reason', (text: string) => text.replace('"stop"', 'null'), 'streamed'],
    ['lacks a piece', (text: string) => text.replace('No. ', ''), 'streamed'],
    [
      'says [DONE] after an error',
      (text: string) => text.replace('data: [DONE]', 'data: {"error":{}}\n\ndata: [DONE]'),
      'streamed',
    ],
    [
      'breaks off with an error that nobody made',
      (text: string) => text.replace('data: [DONE]', 'data: {"error":{}}'),
      'broken off',
    ],
  ])('finds a stream that %s', (_, spoil, word) => {
    const faults = faultsOf({ ends: [streamed(spoil)], calls: [call()] });
    expect(faults.join()).toContain(word);
  });

  it('finds an answer of another request, and one that another was named for', () => {
    const faults = faultsOf({ ends: [answered({ request: { ...request, expected: ['No. 7'] } })], calls: [call()] });
    expect(faults).toHaveLength(2);
    expect(faultsOf({ ends: [answered({}, { 'x-coordinator-provider': 'd' })], calls: [call()] })).toHaveLength(1);
  });

  it.each([
    ['tokens that were not billed', { usage: { ...usage, prompt_tokens: 1_001, cost } }, {}],
    ['another cost in the body', { usage: { ...usage, cost: cost + 1e-9 } }, {}],
    ['no usage', { usage: undefined }, {}],
    ['another cost in the header', {}, { 'x-coordinator-cost-usd': '0.0012' }],
  ])('finds a bill with %s', (_, body, headers) => {
    expect(faultsOf({ ends: [answered({}, headers, body)], calls: [call()] })).toHaveLength(1);
  });

  it('finds a bill where the provider sent none', () => {
    const calls = [call({ usage: undefined })];
    expect(faultsOf({ ends: [answered()], calls })).toHaveLength(2);
    expect(faultsOf({ ends: [answered({}, { 'x-coordinator-cost-usd': '' }, { usage: null })], calls })).toEqual([]);
  });
});

function call(more: Partial<WireCall> = {}): WireCall {
  const model: ChaosModel = more.model ?? 'medium';
  return {
    id: request.id,
    provider: 'c',
    model,
    deployment: `c/${model}/1-good`,
    startedAt: 110,
    endedAt: 120,
    end: 'whole',
    asksToWait: false,
    text: request.text,
    usage,
    ...more,
  };
}

function failed(deployment: string): WireCall {
  const model: ChaosModel = deployment.includes('basic') ? 'basic' : 'medium';
  return { ...call({ model, deployment, end: 'failed' }), text: '', usage: undefined };
}

/** What puts a deployment out before the request comes, each call for a request of its own. */
function before(deployment: string): readonly WireCall[] {
  return [0, 5, 10].map((startedAt) => ({
    ...failed(deployment),
    id: `${deployment} ${String(startedAt)}`,
    startedAt,
    endedAt: startedAt + 5,
  }));
}

/** Those whose calls they were, gone since. */
function others(calls: readonly WireCall[]): readonly ChaosEnd[] {
  return calls
    .filter(({ id }) => id !== request.id)
    .map(({ id, endedAt }) => ended({ request: { ...request, id }, endedAt, hasLeft: true }));
}

function ended(more: Partial<ChaosEnd>, headers: Readonly<Record<string, string>> = {}): ChaosEnd {
  return {
    request,
    startedAt: 100,
    endedAt: 200,
    tookMs: 100,
    hasLeft: false,
    status: 200,
    text: '',
    header: (name) => (headers[name] === '' ? undefined : headers[name]),
    ...more,
  };
}

const TRUE_HEADERS = {
  'x-coordinator-attempts': '1',
  'x-coordinator-model': 'medium',
  'x-coordinator-provider': 'c',
  'x-coordinator-cost-usd': String(cost),
};

function answered(
  more: Partial<ChaosEnd> = {},
  headers: Readonly<Record<string, string>> = {},
  body: object = {},
): ChaosEnd {
  const choices = [{ message: { content: request.text }, finish_reason: 'stop' }];
  const text = JSON.stringify({ model: 'medium', choices, usage: { ...usage, cost }, ...body });
  return ended({ text, ...more }, { ...TRUE_HEADERS, ...headers });
}

function streamed(spoil = (text: string): string => text): ChaosEnd {
  const [first = '', ...rest] = request.text.split(': ');
  const chunks = [
    { choices: [{ delta: { content: first }, finish_reason: null }] },
    { choices: [{ delta: { content: `: ${rest.join(': ')}` }, finish_reason: 'stop' }] },
    { choices: [], usage: { ...usage, cost } },
  ];
  const text = `${chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join('')}data: [DONE]\n\n`;
  return ended({ request: { ...request, isStream: true }, text: spoil(text) }, TRUE_HEADERS);
}

function refused(attempts: string, more: Partial<ChaosEnd> = {}): ChaosEnd {
  return ended({ status: 503, text: JSON.stringify(OVERLOADED), ...more }, { 'x-coordinator-attempts': attempts });
}
