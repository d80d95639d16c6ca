import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { type Answer, contentOf } from '../support/completion-rig.js';
import { eventually } from '../support/eventually.js';
import { Gate, GLOBEX, met, ReuseRig } from '../support/reuse-rig.js';
import { inTurn } from '../support/route-rig.js';
import { chunk, completion, DONE, finish, json, RESET, type Script, stream, usageChunk } from '../support/scripted-upstream.js';

let rig: ReuseRig;
let gate = new Gate();
let keys = 0;

// Without a cache: what is given again here is given by the key.
beforeAll(async () => {
  rig = await ReuseRig.start(2, { cacheTtl: '0s' });
});
afterEach(() => {
  gate.open();
  gate = new Gate();
  rig.upstream.play(json(200, completion()));
  rig.upstream.requests.length = 0;
  rig.upstream.aborted = 0;
});
afterAll(() => rig.close());

const newKey = (): Record<string, string> => ({ 'idempotency-key': `key-${(keys += 1)}` });
const isReplay = ({ headers }: Answer): boolean => headers.get('idempotent-replayed') === 'true';
const called = (count = 1): Promise<void> => eventually(() => rig.calls >= count);

function held(answer: Script = json(200, completion('Hello!'))): Script {
  return async (request, response) => {
    await gate.passed();
    await answer(request, response);
  };
}

/** All pods' total of a counter, by the part of its line before the number. */
async function total(counter: string): Promise<number> {
  const texts = await Promise.all(rig.pods.map(async ({ url }) => (await fetch(`${url}/metrics`)).text()));
  const values = texts.flatMap((text) => text.split('\n').filter((line) => line.startsWith(counter)));
  return values.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
}

describe('an Idempotency-Key', () => {
  it('row 19: gets the same answer, on any pod, for one call and one charge', async () => {
    const before = await total('coordinator_cost_usd_total{');
    const headers = newKey();
    const first = await rig.ask({}, { headers });
    rig.upstream.play(json(200, completion('another one')));
    for (const pod of [0, 1]) {
      const again = await rig.ask({}, { headers, pod });
      expect([again.status, again.text, isReplay(again), met(again)]).toEqual([200, first.text, true, 'hit']);
      expect(again.headers.get('x-coordinator-model')).toBe('test-model');
      expect(again.headers.get('x-coordinator-cost-usd')).toBe('0');
      expect(again.headers.get('content-type')).toBe(first.headers.get('content-type'));
    }
    expect([isReplay(first), rig.calls]).toEqual([false, 1]);
    expect((await total('coordinator_cost_usd_total{')) - before).toBeCloseTo(0.000036, 9);
  });

  it('row 19: gets the answer whose first delivery was lost, and pays for it once', async () => {
    rig.upstream.play(held());
    const headers = newKey();
    const leaving = new AbortController();
    const lost = rig.send({}, { headers, signal: leaving.signal });
    await called();
    leaving.abort();
    await expect(lost).rejects.toThrow();
    const retry = rig.ask({}, { headers, pod: 1 });
    await new Promise((resolve) => setTimeout(resolve, 300));
    gate.open();
    expect((await retry).status).toBe(200);
    expect((await rig.ask({}, { headers })).text).toBe((await retry).text);
    expect([rig.calls, rig.upstream.aborted]).toEqual([1, 0]);
  });

  it('is one call for all who use it at once', async () => {
    rig.upstream.play(held());
    const headers = newKey();
    const answers = Array.from({ length: 12 }, (_, index) => rig.ask({}, { headers, pod: index % 2 }));
    await called();
    await new Promise((resolve) => setTimeout(resolve, 100));
    gate.open();
    const all = await Promise.all(answers);
    expect(new Set(all.map(({ text }) => text)).size).toBe(1);
    expect(all.filter(isReplay)).toHaveLength(11);
    expect(rig.calls).toBe(1);
  });

  it('gets a stream as the same stream, also one that was asked for on another pod meanwhile', async () => {
    rig.upstream.play(held(stream([chunk('Hel'), chunk('lo'), finish(), usageChunk(), DONE])));
    const headers = newKey();
    const body = { stream: true };
    const answers = [0, 0, 1].map((pod) => rig.ask(body, { headers, pod }));
    await called();
    gate.open();
    const all = await Promise.all([...answers, rig.ask(body, { headers, pod: 1 })]);
    const later = await rig.ask(body, { headers, pod: 1 });
    for (const { text, headers: told } of [...all, later]) {
      expect(text).toBe(all[0]?.text);
      expect(told.get('content-type')).toContain('text/event-stream');
    }
    expect([contentOf(later.text), later.text.includes('usage'), later.text.endsWith(DONE)]).toEqual(['Hello', false, true]);
    expect(rig.calls).toBe(1);
  });

  it('finishes a stream whose reader left, for when it comes back', async () => {
    const rest: Script = async (_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(chunk('first '));
      await gate.passed();
      response.end(`${chunk('second')}${finish()}${DONE}`);
    };
    rig.upstream.play(rest);
    const headers = newKey();
    const leaving = new AbortController();
    const response = await rig.send({ stream: true }, { headers, signal: leaving.signal });
    await response.body?.getReader().read();
    leaving.abort();
    await new Promise((resolve) => setTimeout(resolve, 200));
    gate.open();
    const again = await rig.ask({ stream: true }, { headers, pod: 1 });
    expect([contentOf(again.text), rig.calls, rig.upstream.aborted]).toEqual(['first second', 1, 0]);
  });

  it('is refused for another body, while its call runs and afterwards', async () => {
    rig.upstream.play(held());
    const headers = newKey();
    const first = rig.ask({ temperature: 1 }, { headers });
    await called();
    const refused = [0, 1].map((pod) => rig.ask({ temperature: 0.9 }, { headers, pod }));
    for (const { status, body } of await Promise.all(refused)) {
      expect([status, body]).toEqual([
        422,
        expect.objectContaining({ error: expect.objectContaining({ code: 'idempotency_mismatch' }) }),
      ]);
    }
    gate.open();
    await first;
    for (const more of [{ temperature: 0.9 }, { stream: true, temperature: 1 }, { temperature: 1, user: 'u' }]) {
      expect((await rig.ask(more, { headers })).status).toBe(422);
    }
    expect(isReplay(await rig.ask({ temperature: 1 }, { headers }))).toBe(true);
    expect(rig.calls).toBe(1);
  });

  it('is the caller’s own', async () => {
    const headers = newKey();
    await rig.ask({}, { headers });
    const other = await rig.ask({ temperature: 0.1 }, { headers: { ...headers, ...GLOBEX } });
    expect([other.status, isReplay(other), rig.calls]).toEqual([200, false, 2]);
  });

  it.each([
    ['a 400 of the provider', json(400, { error: { message: 'no' } }), 400],
    ['a stream that broke', stream([chunk('Hal'), RESET]), 200],
  ])('keeps no failure: %s', async (_, failing, status) => {
    const whole = stream([chunk('whole'), finish(), DONE]);
    rig.upstream.play(inTurn(failing, whole));
    const headers = newKey();
    expect((await rig.ask({ stream: true }, { headers })).status).toBe(status);
    const second = await rig.ask({ stream: true }, { headers, pod: 1 });
    expect([contentOf(second.text), isReplay(second), rig.calls]).toEqual(['whole', false, 2]);
    expect(isReplay(await rig.ask({ stream: true }, { headers }))).toBe(true);
  });

  it('is not used up by a request that is refused', async () => {
    const headers = newKey();
    expect((await rig.ask({ messages: [] }, { headers })).status).toBe(400);
    expect((await rig.ask({ model: 'no-such-model' }, { headers })).status).toBe(404);
    expect((await rig.ask({}, { headers })).status).toBe(200);
  });

  it('works with requests that are not cached', async () => {
    const headers = { ...newKey(), 'cache-control': 'no-store' };
    const first = await rig.ask({ cache: false, n: 2 }, { headers });
    const second = await rig.ask({ cache: false, n: 2 }, { headers, pod: 1 });
    expect([met(first), isReplay(second), second.text === first.text, rig.calls]).toEqual(['bypass', true, true, 1]);
  });

  it.each([
    ['empty', ''],
    ['with a blank', 'a b'],
    ['too long', 'x'.repeat(256)],
    ['beyond ASCII', 'schl\u00fcssel'],
  ])('must be one: %s', async (_, key) => {
    const { status, body } = await rig.ask({}, { headers: { 'idempotency-key': key } });
    expect([status, body]).toEqual([
      400,
      expect.objectContaining({ error: expect.objectContaining({ code: 'invalid_request', param: 'Idempotency-Key' }) }),
    ]);
    expect(rig.calls).toBe(0);
  });

  it('of 255 characters is one', async () => {
    expect((await rig.ask({}, { headers: { 'idempotency-key': '~'.repeat(255) } })).status).toBe(200);
  });

  it('is free again when its owner has died', async () => {
    const redis = new Redis(rig.redis.port, rig.redis.host);
    try {
      rig.upstream.play(held());
      const headers = newKey();
      const first = rig.ask({}, { headers });
      await called();
      const [flight = ''] = await redis.keys('*:flight:*');
      // As if another process had led it, which gives no sign of life any more.
      await redis.hset(flight, 't', 'dead', 'u', String(Date.now() + 500));
      const second = rig.ask({}, { headers, pod: 1 });
      await called(2);
      gate.open();
      expect([(await second).status, isReplay(await second), (await first).status]).toEqual([200, false, 200]);
      expect(isReplay(await rig.ask({}, { headers }))).toBe(true);
    } finally {
      redis.disconnect();
    }
  });

  it('is refused where nobody can tell whether it was used: who names a call must not pay twice', async () => {
    await rig.redis.crash();
    try {
      const headers = newKey();
      const { status, body, headers: told } = await rig.ask({}, { headers });
      expect([status, (body['error'] as { code: string }).code]).toEqual([503, 'store_unavailable']);
      expect(told.get('retry-after')).toBe('1');
      expect(rig.calls).toBe(0);
    } finally {
      await rig.redis.restart();
    }
    await eventually(async () => (await rig.ask({}, { headers: newKey() })).status === 200);
  });

  it('is nothing that can be read in the store', async () => {
    const redis = new Redis(rig.redis.port, rig.redis.host);
    const headers = { 'idempotency-key': 'secret-order-4711' };
    await rig.ask({ messages: [{ role: 'user', content: 'my secret' }] }, { headers });
    const names = await redis.keys('*an:*');
    const answers = await Promise.all(names.filter((name) => name.endsWith(':answers')).map((name) => redis.hgetall(name)));
    expect(JSON.stringify([names, answers])).not.toMatch(/4711|my secret|acme/);
    redis.disconnect();
  });
});
