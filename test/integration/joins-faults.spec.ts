import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { eventually } from '../support/eventually.js';
import { met, ReuseRig } from '../support/reuse-rig.js';
import { asAsked, inTurn } from '../support/route-rig.js';
import { completion, json } from '../support/scripted-upstream.js';

let rig: ReuseRig;

beforeAll(async () => {
  rig = await ReuseRig.start(3);
});
afterEach(() => {
  rig.reset();
});
afterAll(() => rig.close());

describe('messages that are lost', () => {
  it('cost a moment, and no call', async () => {
    rig.upstream.play(rig.held());
    const body = rig.question();
    const answers = [0, 1, 2].map((pod) => rig.ask(body, { pod }));
    await rig.waitingPods(2);
    await rig.client.call('CLIENT', 'KILL', 'TYPE', 'pubsub');
    rig.open();
    expect((await Promise.all(answers)).map(met).sort()).toEqual(['joined', 'joined', 'miss']);
    expect(rig.calls).toBe(1);
  });
});

describe('a pod that goes down', () => {
  it('hands its calls over to those who wait for them elsewhere', async () => {
    const own = await ReuseRig.start(2);
    try {
      own.upstream.play(inTurn(own.held(), json(200, completion('in its place'))));
      const body = own.question();
      const leader = own.ask(body);
      await eventually(() => own.calls === 1);
      const follower = own.ask(body, { pod: 1 });
      await new Promise((resolve) => setTimeout(resolve, 200));
      expect(own.calls).toBe(1);
      const down = own.pods[0]?.close();
      expect((await leader).status).toBe(503);
      expect([(await follower).status, (await follower).text.includes('in its place')]).toEqual([200, true]);
      await down;
      expect(own.calls).toBe(2);
    } finally {
      await own.close();
    }
  });
});

describe('a Redis that is away', () => {
  it('holds up no request for longer than it takes to notice', async () => {
    rig.upstream.play(asAsked('Hello!'));
    rig.redis.freeze();
    try {
      const body = rig.question();
      const answers = await Promise.all([rig.ask(body), rig.ask({ ...body, stream: true }), rig.ask(rig.question())]);
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    } finally {
      rig.redis.thaw();
    }
  });

  it('costs the cache and the joins of other pods, and no request', async () => {
    rig.upstream.play(rig.held());
    await rig.redis.crash();
    try {
      const body = rig.question();
      const answers = Array.from({ length: 10 }, () => rig.ask(body));
      await rig.called();
      await rig.waiting(9);
      rig.open();
      const all = await Promise.all(answers);
      expect(all.map(({ status }) => status)).toEqual(all.map(() => 200));
      expect(rig.calls).toBe(1);
    } finally {
      await rig.redis.restart();
    }
    rig.open();
    const body = rig.question();
    await eventually(async () => met(await rig.ask(body)) === 'hit' && met(await rig.ask(body, { pod: 1 })) === 'hit');
  });
});
