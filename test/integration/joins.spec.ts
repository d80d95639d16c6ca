import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { ABORT_MS, type Answer, contentOf } from '../support/completion-rig.js';
import { eventually } from '../support/eventually.js';
import { Gate, GLOBEX, met, ReuseRig } from '../support/reuse-rig.js';
import { inTurn } from '../support/route-rig.js';
import { chunk, completion, DONE, finish, json, type Script, usageChunk } from '../support/scripted-upstream.js';

const PODS = 3;
let rig: ReuseRig;
let gate = new Gate();
let prompts = 0;
let redis: Redis;

beforeAll(async () => {
  rig = await ReuseRig.start(PODS);
  redis = new Redis(rig.redis.port, rig.redis.host);
});
afterEach(async () => {
  gate.open();
  gate = new Gate();
  rig.upstream.requests.length = 0;
  rig.upstream.aborted = 0;
});
afterAll(async () => {
  redis.disconnect();
  await rig.close();
});

/** A question that nobody has asked before. */
function question(more: object = {}): object {
  prompts += 1;
  return { messages: [{ role: 'user', content: `question ${prompts}` }], ...more };
}

/** Answers once the gate is open. */
function held(answer: Script = json(200, completion('Hello!'))): Script {
  return async (request, response) => {
    await gate.passed();
    await answer(request, response);
  };
}

/** So many of this process's requests wait for another one's answer, over all pods. */
async function waiting(count: number): Promise<void> {
  await eventually(async () => {
    const texts = await Promise.all(rig.pods.map(async ({ url }) => (await fetch(`${url}/metrics`)).text()));
    const counts = texts.map((text) => Number(/^coordinator_joined_waiting (\d+)$/m.exec(text)?.[1] ?? 0));
    return counts.reduce((sum, each) => sum + each, 0) === count;
  });
}

/** So many pods wait in the store for flights that other pods lead. */
async function waitingPods(count: number): Promise<void> {
  await eventually(async () => {
    const flights = await redis.keys('*:flight:*');
    const fields = await Promise.all(flights.map((name) => redis.hkeys(name)));
    return fields.flat().filter((field) => field.startsWith('w:')).length === count;
  });
}

const called = (count = 1): Promise<void> => eventually(() => rig.calls >= count);

describe('identical calls in flight', () => {
  it('row 57: fifty on three pods are one call, paid once', async () => {
    rig.upstream.play(held());
    const body = question();
    const answers = Array.from({ length: 50 }, (_, index) => rig.ask(body, { pod: index % PODS }));
    // In each pod one of them was there first; the others wait for it, and two of the three for the third.
    await waiting(50 - PODS);
    await waitingPods(PODS - 1);
    gate.open();
    const all = await Promise.all(answers);
    expect(rig.calls).toBe(1);
    expect(all.map(({ status }) => status)).toEqual(all.map(() => 200));
    expect(all.map(met).sort()).toEqual([...Array<string>(49).fill('joined'), 'miss']);
    expect(all.filter(({ headers }) => headers.get('x-coordinator-cost-usd') !== '0')).toHaveLength(1);
    const costs = all.map(({ body: { usage } }) => (usage as { cost: number }).cost).sort();
    expect(costs).toEqual([...Array<number>(49).fill(0), 0.000036]);
    expect(await redis.keys('*:flight:*')).toEqual([]);
    expect(met(await rig.ask(body, { pod: 2 }))).toBe('hit');
  });

  it('row 53: are not those of two callers', async () => {
    rig.upstream.play(held());
    const body = question();
    const answers = [rig.ask(body), rig.ask(body, { headers: GLOBEX }), rig.ask(body, { pod: 1, headers: GLOBEX })];
    await called(2);
    gate.open();
    expect((await Promise.all(answers)).map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(rig.calls).toBe(2);
  });

  it('are told the same failure, whichever pod they are on', async () => {
    rig.upstream.play(held(json(400, { error: { message: 'the tool has no name', param: 'tools[0]' } })));
    const body = question();
    const answers = [0, 0, 1, 2].map((pod) => rig.ask(body, { pod }));
    await waiting(1);
    await waitingPods(2);
    gate.open();
    const all = await Promise.all(answers);
    expect(rig.calls).toBe(1);
    for (const { status, body: told } of all) {
      expect(status).toBe(400);
      expect(told).toEqual(all[0]?.body);
    }
  });

  it('keep their own deadlines', async () => {
    rig.upstream.play(held());
    const body = question();
    const leader = rig.ask(body);
    await called();
    const hurried = { 'x-coordinator-timeout-ms': '150' };
    const late = await Promise.all([0, 1].map((pod) => rig.ask(body, { pod, headers: hurried })));
    expect(late.map(({ status }) => status)).toEqual([504, 504]);
    expect(late.map(({ body: { error } }) => (error as { code: string }).code)).toEqual(['timeout', 'timeout']);
    gate.open();
    expect([(await leader).status, met(await leader), rig.calls]).toEqual([200, 'miss', 1]);
  });

  it('take over from one whose time is over, on its pod and on another one', async () => {
    for (const pod of [0, 1]) {
      const before = rig.calls;
      rig.upstream.play(inTurn(held(), json(200, completion('later'))));
      const body = question();
      const leader = rig.ask(body, { headers: { 'x-coordinator-timeout-ms': '400' } });
      await called(before + 1);
      const followers = [rig.ask(body, { pod }), rig.ask(body, { pod })];
      expect((await leader).status).toBe(504);
      const all = await Promise.all(followers);
      expect(all.map(({ status }) => status)).toEqual([200, 200]);
      expect(rig.calls - before).toBe(2);
    }
  });

  it('go on when the caller who was first leaves, on its pod and on another one', async () => {
    for (const pod of [0, 1]) {
      const before = rig.calls;
      gate = new Gate();
      rig.upstream.play(held());
      const body = question();
      const leaving = new AbortController();
      const leader = rig.send(body, { signal: leaving.signal });
      await called(before + 1);
      const follower = rig.ask(body, { pod });
      await (pod === 0 ? waiting(1) : waitingPods(1));
      leaving.abort();
      await expect(leader).rejects.toThrow();
      // Longer than an abort would take.
      await new Promise((resolve) => setTimeout(resolve, ABORT_MS));
      gate.open();
      expect([(await follower).status, met(await follower)]).toEqual([200, 'joined']);
      expect(rig.calls - before).toBe(1);
      expect(rig.upstream.aborted).toBe(0);
    }
  });

  it('are ended within a second when all who waited have left, on all pods', async () => {
    rig.upstream.play(held());
    const body = question();
    const leaving = new AbortController();
    const all: Promise<Response>[] = [rig.send(body, { signal: leaving.signal })];
    await called();
    for (const pod of [0, 1, 1, 2]) all.push(rig.send(body, { pod, signal: leaving.signal }));
    await waiting(2);
    await waitingPods(2);
    const leftAt = performance.now();
    leaving.abort();
    await Promise.allSettled(all);
    await eventually(() => rig.upstream.aborted === 1);
    expect(performance.now() - leftAt).toBeLessThan(ABORT_MS);
    await waiting(0);
    await eventually(async () => (await redis.keys('*:flight:*')).length === 0);
  });

  it('row 57: are taken over when the pod that led them is dead', async () => {
    rig.upstream.play(inTurn(held(), json(200, completion('in its place'))));
    const body = question();
    const leader = rig.ask(body);
    await called();
    const followers = [1, 2, 2].map((pod) => rig.ask(body, { pod }));
    await waitingPods(2);
    const [flight = ''] = await redis.keys('*:flight:*');
    // As if another process had led it, which gives no sign of life any more.
    await redis.hset(flight, 't', 'dead', 'u', String(Date.now() + 500));
    const all = await Promise.all(followers);
    expect(all.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(all.map(({ text }) => text.includes('in its place'))).toEqual([true, true, true]);
    expect(rig.calls).toBe(2);
    gate.open();
    expect((await leader).status).toBe(200);
  });

  it('are apart where one wants no substitute, no cache or no join', async () => {
    rig.upstream.play(held());
    const body = question();
    const answers: Promise<Answer>[] = [rig.ask(body)];
    await called();
    answers.push(rig.ask(body, { headers: { 'x-coordinator-strict': 'true' } }));
    answers.push(rig.ask(body, { headers: { 'cache-control': 'no-cache' } }));
    answers.push(rig.ask({ ...body, cache: false }));
    answers.push(rig.ask({ ...body, n: 2 }));
    await called(5);
    gate.open();
    expect((await Promise.all(answers)).map(met)).toEqual(['miss', 'miss', 'bypass', 'bypass', 'bypass']);
  });
});

describe('identical streams in flight', () => {
  const parts = async (response: Response, until: string): Promise<{ text: string; rest: () => Promise<string> }> => {
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    if (reader === undefined) throw new Error('no body');
    let text = '';
    const more = async (): Promise<boolean> => {
      const { value = '', done } = await reader.read();
      text += value;
      return !done;
    };
    while (!text.includes(until)) if (!(await more())) break;
    const rest = async (): Promise<string> => {
      while (await more());
      return text;
    };
    return { text, rest };
  };

  const halves: Script = async (_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(chunk('first '));
    await gate.passed();
    response.write(`${chunk('second')}${finish()}${usageChunk()}`);
    response.end(DONE);
  };

  it('give whoever comes later on the same pod what was sent already, and then go on together', async () => {
    rig.upstream.play(halves);
    const body = question({ stream: true });
    const one = await parts(await rig.send(body), 'first');
    const lateResponse = await rig.send({ ...body, stream_options: { include_usage: true } });
    expect(met(lateResponse)).toBe('joined');
    const late = await parts(lateResponse, 'first');
    expect([contentOf(one.text), contentOf(late.text)]).toEqual(['first ', 'first ']);
    gate.open();
    const [first, second] = await Promise.all([one.rest(), late.rest()]);
    expect([contentOf(first), contentOf(second), rig.calls]).toEqual(['first second', 'first second', 1]);
    expect(first).not.toContain('usage');
    expect(second).toContain('"cost":0}');
    expect(second.endsWith(DONE)).toBe(true);
    expect(met(await rig.ask(body, { pod: 1 }))).toBe('hit');
  });

  it('go on when the first reader leaves, and end when the last one does', async () => {
    rig.upstream.play(halves);
    const body = question({ stream: true });
    const [one, other] = [new AbortController(), new AbortController()];
    await parts(await rig.send(body, { signal: one.signal }), 'first');
    const second = await parts(await rig.send(body, { signal: other.signal }), 'first');
    one.abort();
    await new Promise((resolve) => setTimeout(resolve, ABORT_MS / 2));
    expect(rig.upstream.aborted).toBe(0);
    const ended = second.rest().catch(() => 'left');
    other.abort();
    await eventually(() => rig.upstream.aborted === 1, ABORT_MS);
    await ended;
  });

  it('end for a follower whose time is over, and for nobody else', async () => {
    rig.upstream.play(halves);
    const body = question({ stream: true });
    const leader = await parts(await rig.send(body), 'first');
    const hurried = await rig.ask(body, { headers: { 'x-coordinator-timeout-ms': '150' } });
    expect(hurried.status).toBe(200);
    expect(hurried.text).toContain('"code":"timeout"');
    expect(hurried.text).not.toContain(DONE);
    gate.open();
    expect(contentOf(await leader.rest())).toBe('first second');
  });
});

describe('a Redis that is away', () => {
  it('costs the cache and the joins of other pods, and no request', async () => {
    rig.upstream.play(held());
    await rig.redis.crash();
    try {
      const body = question();
      const answers = Array.from({ length: 10 }, () => rig.ask(body));
      await called();
      await waiting(9);
      gate.open();
      const all = await Promise.all(answers);
      expect(all.map(({ status }) => status)).toEqual(all.map(() => 200));
      expect(rig.calls).toBe(1);
    } finally {
      await rig.redis.restart();
    }
    gate = new Gate();
    gate.open();
    const body = question();
    await eventually(async () => met(await rig.ask(body)) === 'hit' && met(await rig.ask(body, { pod: 1 })) === 'hit');
  });
});
