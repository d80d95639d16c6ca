import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { contentOf } from '../support/completion-rig.js';
import { GLOBEX, isReplay, met, newKey, ReuseRig } from '../support/reuse-rig.js';
import { chunk, completion, DONE, finish, json, stream, usageChunk } from '../support/scripted-upstream.js';

let rig: ReuseRig;

// Without a cache: what is given again here is given by the key.
beforeAll(async () => {
  rig = await ReuseRig.start(2, { cacheTtl: '0s' });
});
afterEach(() => {
  rig.reset();
});
afterAll(() => rig.close());

describe('an Idempotency-Key', () => {
  it('row 19: gets the same answer, on any pod, for one call and one charge', async () => {
    const before = await rig.total('coordinator_cost_usd_total{');
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
    expect((await rig.total('coordinator_cost_usd_total{')) - before).toBeCloseTo(0.000036, 9);
  });

  it('row 19: gets the answer whose first delivery was lost, and pays for it once', async () => {
    rig.upstream.play(rig.held());
    const headers = newKey();
    const leaving = new AbortController();
    const lost = rig.send({}, { headers, signal: leaving.signal });
    await rig.called();
    leaving.abort();
    await expect(lost).rejects.toThrow();
    const retry = rig.ask({}, { headers, pod: 1 });
    await new Promise((resolve) => setTimeout(resolve, 300));
    rig.open();
    expect((await retry).status).toBe(200);
    expect((await rig.ask({}, { headers })).text).toBe((await retry).text);
    expect([rig.calls, rig.upstream.aborted]).toEqual([1, 0]);
  });

  it('is one call for all who use it at once', async () => {
    rig.upstream.play(rig.held());
    const headers = newKey();
    const answers = Array.from({ length: 12 }, (_, index) => rig.ask({}, { headers, pod: index % 2 }));
    await rig.called();
    await new Promise((resolve) => setTimeout(resolve, 100));
    rig.open();
    const all = await Promise.all(answers);
    expect(new Set(all.map(({ text }) => text)).size).toBe(1);
    expect(all.filter(isReplay)).toHaveLength(11);
    expect(rig.calls).toBe(1);
  });

  it('gets a stream as the same stream, also one that was asked for on another pod meanwhile', async () => {
    rig.upstream.play(rig.held(stream([chunk('Hel'), chunk('lo'), finish(), usageChunk(), DONE])));
    const headers = newKey();
    const body = { stream: true };
    const answers = [0, 0, 1].map((pod) => rig.ask(body, { headers, pod }));
    await rig.called();
    rig.open();
    const all = await Promise.all(answers);
    const later = await rig.ask(body, { headers, pod: 1 });
    for (const { text, headers: told } of all) {
      expect(text).toBe(later.text);
      expect(told.get('content-type')).toContain('text/event-stream');
    }
    expect([contentOf(later.text), later.text.includes('usage'), later.text.endsWith(DONE)]).toEqual([
      'Hello',
      false,
      true,
    ]);
    expect(rig.calls).toBe(1);
  });

  it('finishes a stream whose reader left, for when it comes back', async () => {
    rig.upstream.play(rig.halves());
    const headers = newKey();
    const leaving = new AbortController();
    const response = await rig.send({ stream: true }, { headers, signal: leaving.signal });
    await response.body?.getReader().read();
    leaving.abort();
    await new Promise((resolve) => setTimeout(resolve, 200));
    rig.open();
    const again = await rig.ask({ stream: true }, { headers, pod: 1 });
    expect([contentOf(again.text), rig.calls, rig.upstream.aborted]).toEqual(['first second', 1, 0]);
  });

  it('is refused for another body, while its call runs and afterwards', async () => {
    rig.upstream.play(rig.held());
    const headers = newKey();
    const first = rig.ask({ temperature: 1 }, { headers });
    await rig.called();
    const refused = [0, 1].map((pod) => rig.ask({ temperature: 0.9 }, { headers, pod }));
    for (const { status, body } of await Promise.all(refused)) {
      expect([status, body]).toEqual([
        422,
        expect.objectContaining({ error: expect.objectContaining({ code: 'idempotency_mismatch' }) }),
      ]);
    }
    rig.open();
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

  it('works with requests that are not cached', async () => {
    const headers = { ...newKey(), 'cache-control': 'no-store' };
    const first = await rig.ask({ cache: false, n: 2 }, { headers });
    const second = await rig.ask({ cache: false, n: 2 }, { headers, pod: 1 });
    expect([met(first), isReplay(second), second.text === first.text, rig.calls]).toEqual(['bypass', true, true, 1]);
  });
});
