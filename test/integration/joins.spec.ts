import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { ABORT_MS, ABORT_SEEN_MS } from '../support/abort-limits.js';
import { type Answer } from '../support/completion-rig.js';
import { eventually } from '../support/eventually.js';
import { GLOBEX, met, ReuseRig } from '../support/reuse-rig.js';
import { inTurn } from '../support/route-rig.js';
import { completion, json } from '../support/scripted-upstream.js';

const PODS = 3;
let rig: ReuseRig;

beforeAll(async () => {
  rig = await ReuseRig.start(PODS);
});
afterEach(() => {
  rig.reset();
});
afterAll(() => rig.close());

describe('identical calls in flight', () => {
  it('row 57: fifty on three pods are one call, paid once', async () => {
    rig.upstream.play(rig.held());
    const body = rig.question();
    const answers = Array.from({ length: 50 }, (_, index) => rig.ask(body, { pod: index % PODS }));
    // In each pod one of them was there first; the others wait for it, and two of the three for the third.
    await rig.waiting(50 - PODS);
    await rig.waitingPods(PODS - 1);
    rig.open();
    const all = await Promise.all(answers);
    expect(rig.calls).toBe(1);
    expect(all.map(({ status }) => status)).toEqual(all.map(() => 200));
    expect(all.map(met).sort()).toEqual([...Array<string>(49).fill('joined'), 'miss']);
    expect(all.filter(({ headers }) => headers.get('x-coordinator-cost-usd') !== '0')).toHaveLength(1);
    const costs = all.map(({ body: { usage } }) => (usage as { cost: number }).cost).sort();
    expect(costs).toEqual([...Array<number>(49).fill(0), 0.000036]);
    expect(await rig.flights()).toEqual([]);
    expect(met(await rig.ask(body, { pod: 2 }))).toBe('hit');
  });

  it('row 53: are not those of two callers', async () => {
    rig.upstream.play(rig.held());
    const body = rig.question();
    const answers = [rig.ask(body), rig.ask(body, { headers: GLOBEX }), rig.ask(body, { pod: 1, headers: GLOBEX })];
    await rig.called(2);
    rig.open();
    expect((await Promise.all(answers)).map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(rig.calls).toBe(2);
  });

  it('are told the same failure, whichever pod they are on', async () => {
    rig.upstream.play(rig.held(json(400, { error: { message: 'the tool has no name', param: 'tools[0]' } })));
    const body = rig.question();
    const answers = [0, 0, 1, 2].map((pod) => rig.ask(body, { pod }));
    await rig.waiting(1);
    await rig.waitingPods(2);
    rig.open();
    const all = await Promise.all(answers);
    expect(rig.calls).toBe(1);
    for (const { status, body: told } of all) {
      expect(status).toBe(400);
      expect(told).toEqual(all[0]?.body);
    }
  });

  it('keep their own deadlines', async () => {
    rig.upstream.play(rig.held());
    const body = rig.question();
    const leader = rig.ask(body);
    await rig.called();
    const hurried = { 'x-coordinator-timeout-ms': '150' };
    const late = await Promise.all([0, 1].map((pod) => rig.ask(body, { pod, headers: hurried })));
    expect(late.map(({ status }) => status)).toEqual([504, 504]);
    expect(late.map(({ body: { error } }) => (error as { code: string }).code)).toEqual(['timeout', 'timeout']);
    rig.open();
    expect([(await leader).status, met(await leader), rig.calls]).toEqual([200, 'miss', 1]);
  });

  it('take over from one whose time is over, on its pod and on another one', async () => {
    for (const pod of [0, 1]) {
      const before = rig.calls;
      rig.upstream.play(inTurn(rig.held(), json(200, completion('later'))));
      const body = rig.question();
      const leader = rig.ask(body, { headers: { 'x-coordinator-timeout-ms': '1500' } });
      await rig.called(before + 1);
      const followers = [rig.ask(body, { pod }), rig.ask(body, { pod })];
      expect((await leader).status).toBe(504);
      const all = await Promise.all(followers);
      expect(all.map(({ status }) => status)).toEqual([200, 200]);
      expect(rig.calls - before).toBe(2);
    }
  });

  it('go on when the caller who was first leaves, on its pod and on another one', async () => {
    for (const pod of [0, 1]) {
      rig.reset();
      rig.upstream.play(rig.held());
      const body = rig.question();
      const leaving = new AbortController();
      const leader = rig.send(body, { signal: leaving.signal });
      await rig.called();
      const follower = rig.ask(body, { pod });
      await (pod === 0 ? rig.waiting(1) : rig.waitingPods(1));
      leaving.abort();
      await expect(leader).rejects.toThrow();
      // Longer than an abort would take.
      await new Promise((resolve) => setTimeout(resolve, ABORT_MS));
      rig.open();
      expect([(await follower).status, met(await follower)]).toEqual([200, 'joined']);
      expect([rig.calls, rig.upstream.aborted]).toEqual([1, 0]);
    }
  });

  it('are ended within a second when all who waited have left, on all pods', async () => {
    rig.upstream.play(rig.held());
    const body = rig.question();
    const leaving = new AbortController();
    const all: Promise<Response>[] = [rig.send(body, { signal: leaving.signal })];
    await rig.called();
    for (const pod of [0, 1, 1, 2]) all.push(rig.send(body, { pod, signal: leaving.signal }));
    await rig.waiting(2);
    await rig.waitingPods(2);
    leaving.abort();
    await Promise.allSettled(all);
    await eventually(() => rig.upstream.aborted === 1, ABORT_SEEN_MS);
    await rig.waiting(0);
    await eventually(async () => (await rig.flights()).length === 0);
  });

  it('row 57: are taken over when the pod that led them is dead', async () => {
    rig.upstream.play(inTurn(rig.held(), json(200, completion('in its place'))));
    const body = rig.question();
    const leader = rig.ask(body);
    await rig.called();
    const followers = [1, 2, 2].map((pod) => rig.ask(body, { pod }));
    await rig.waitingPods(2);
    await rig.orphan();
    const all = await Promise.all(followers);
    expect(all.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(all.map(({ text }) => text.includes('in its place'))).toEqual([true, true, true]);
    expect(rig.calls).toBe(2);
    rig.open();
    expect((await leader).status).toBe(200);
  });

  it('are apart where one wants no substitute, no cache or no join', async () => {
    rig.upstream.play(rig.held());
    const body = rig.question();
    const answers: Promise<Answer>[] = [rig.ask(body)];
    await rig.called();
    answers.push(rig.ask(body, { headers: { 'x-coordinator-strict': 'true' } }));
    answers.push(rig.ask(body, { headers: { 'cache-control': 'no-cache' } }));
    answers.push(rig.ask({ ...body, cache: false }));
    answers.push(rig.ask({ ...body, n: 2 }));
    await rig.called(5);
    rig.open();
    expect((await Promise.all(answers)).map(met)).toEqual(['miss', 'miss', 'bypass', 'bypass', 'bypass']);
  });
});
