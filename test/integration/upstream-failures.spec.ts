import { describe, expect, it } from '@jest/globals';
import { startCoordinator } from '../support/coordinator.js';
import { messages } from '../support/completion-rig.js';
import {
  chunk,
  completion,
  DONE,
  event,
  finish,
  json,
  type Script,
  type ScriptedUpstream,
  startScriptedUpstream,
  stream,
} from '../support/scripted-upstream.js';

interface Outcome {
  readonly response: Response;
  readonly text: string;
  readonly first: ScriptedUpstream;
  readonly second: ScriptedUpstream;
}

/** One call to a model with two deployments. */
async function callBoth(scripts: readonly [Script, Script], body: object, firstToken = '20s'): Promise<Outcome> {
  const [first, second] = await Promise.all(scripts.map(startScriptedUpstream));
  if (first === undefined || second === undefined) throw new Error('two scripts make two upstreams');
  const coordinator = await startCoordinator({ upstreams: [first.url, second.url], timeouts: { firstToken } });
  try {
    const response = await fetch(`${coordinator.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'test-model', messages, ...body }),
    });
    return { response, text: await response.text(), first, second };
  } finally {
    await coordinator.close();
    await Promise.all([first.close(), second.close()]);
  }
}

describe('a model with two deployments', () => {
  it.each([
    ['a 500', json(500, {}), 2],
    ['a 503', json(503, {}), 2],
    ['a 529, Anthropic’s overload (row 13)', json(529, {}), 2],
    ['a 429', json(429, {}), 1],
    ['a refused key', json(401, {}), 1],
    ['a used-up quota', json(429, { error: { code: 'insufficient_quota' } }), 1],
    ['garbage', json(200, 'x'), 2],
    ['an answer without choices', json(200, { ...completion(), choices: [] }), 2],
    ['a choice without a message', json(200, { ...completion(), choices: [{ finish_reason: 'stop' }] }), 2],
    ['a failure for an end', json(200, { choices: [{ message: { content: 'H' }, finish_reason: 'error' }] }), 2],
    ['an empty answer of no use', json(200, { choices: [{ message: { content: '' }, finish_reason: 'odd' }] }), 1],
    ['a reset (row 17)', ((_, response) => void response.socket?.resetAndDestroy()) satisfies Script, 2],
  ])('is answered by the second after %s of the first, and says so', async (_, script, tries) => {
    const { response, first, second } = await callBoth([script, json(200, completion())], {});
    expect(response.status).toBe(200);
    expect(response.headers.get('x-coordinator-provider')).toBe('p2');
    expect(response.headers.get('x-coordinator-attempts')).toBe(String(tries + 1));
    expect(first.requests).toHaveLength(tries);
    expect(second.requests[0]?.body['model']).toBe('upstream-2');
  });

  it.each([
    ['an error at once', []],
    ['an error after its beginning', [chunk({ role: 'assistant', content: '' })]],
    ['an error after a comment', [': hold on\n\n']],
  ])('row 40: is streamed by the second where the first says 200, and then %s', async (_, before) => {
    const failing = stream([...before, event({ error: { message: 'x', type: 'server_error' } })]);
    const { text, response } = await callBoth([failing, stream([chunk('b'), finish(), DONE])], { stream: true });
    expect(response.headers.get('x-coordinator-provider')).toBe('p2');
    expect(text).toContain('"content":"b"');
    expect(text).not.toContain('error');
  });

  it.each(['stop', 'length', 'content_filter'])(
    'is answered by the first’s empty answer that ended by %s',
    async (end) => {
      const whole = { choices: [{ index: 0, message: { role: 'assistant', content: '' }, finish_reason: end }] };
      const never = json(500, {});
      const { response, text, second } = await callBoth([json(200, completion('', whole)), never], {});
      expect([response.status, JSON.parse(text)]).toMatchObject([200, whole]);
      expect(second.requests).toEqual([]);
      const events = [chunk({ role: 'assistant', content: '' }), finish(end), DONE];
      const streamed = await callBoth([stream(events), never], { stream: true });
      expect(streamed.response.status).toBe(200);
      expect(streamed.text).toContain(`"finish_reason":"${end}"`);
      expect(streamed.text.endsWith(DONE)).toBe(true);
      expect(streamed.second.requests).toEqual([]);
    },
  );

  it('row 40: is streamed by the second where the first ends with a failure before it begins', async () => {
    const failing = stream([chunk({ role: 'assistant', content: '' }), finish('error'), DONE]);
    const { text, response } = await callBoth([failing, stream([chunk('b'), finish(), DONE])], { stream: true });
    expect(response.headers.get('x-coordinator-provider')).toBe('p2');
    expect(text).toContain('"content":"b"');
  });

  it('row 39: says so where the first ends with a failure after content, and is not done', async () => {
    const failing = stream([chunk('a'), finish('error'), DONE]);
    const { text, second } = await callBoth([failing, stream([chunk('b'), finish(), DONE])], { stream: true });
    expect(second.requests).toHaveLength(0);
    expect(text).toContain('"code":"upstream_error"');
    expect(text).not.toContain('[DONE]');
  });

  it('row 42: never starts again once content has gone out', async () => {
    const failing = stream([chunk('a'), event({ error: { message: 'x', type: 'server_error' } })]);
    const { text, second } = await callBoth([failing, stream([chunk('b'), finish(), DONE])], { stream: true });
    expect(second.requests).toHaveLength(0);
    expect(text.match(/"content":"a"/g)).toHaveLength(1);
    expect(text).toContain('upstream_error');
  });

  it('row 45: goes on to the second when the first shows nothing within the first-token limit', async () => {
    const silent = stream([
      ': ping\n\n',
      chunk({ role: 'assistant', content: '' }),
      { waitMs: 3_000 },
      chunk('a'),
      DONE,
    ]);
    const { text, response, first } = await callBoth(
      [silent, stream([chunk('b'), finish(), DONE])],
      { stream: true },
      '200ms',
    );
    expect(response.headers.get('x-coordinator-provider')).toBe('p2');
    expect(text).toContain('"content":"b"');
    expect(first.aborted).toBe(1);
  });

  it.each([true, false])('row 46: gives the last one the rest of the deadline, stream: %s', async (isStream) => {
    const slow = stream([{ waitMs: 600 }, chunk('late'), finish(), DONE]);
    const late: Script = async (request, answer) => {
      await new Promise((resolve) => setTimeout(resolve, 600));
      await json(200, completion('late'))(request, answer);
    };
    const body = { stream: isStream, max_tokens: 1 };
    const { text, response } = await callBoth([json(500, {}), isStream ? slow : late], body, '100ms');
    expect(response.status).toBe(200);
    expect(text).toContain('late');
  });
});
