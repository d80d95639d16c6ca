import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { KeyService } from '../../../src/ai/keys/key.service.js';
import { type PlanRequest, RoutePlanner } from '../../../src/ai/route/route.planner.js';
import type { RoutePlan } from '../../../src/ai/route/route.plan.js';
import { OpenAiAdapter } from '../../../src/ai/upstream/openai.adapter.js';
import { UndiciTransport } from '../../../src/ai/upstream/undici.transport.js';
import { UpstreamFailure } from '../../../src/ai/upstream/upstream-failure.js';
import { at, FIVE_MINUTES, type KeyAnswer, KeyRig, large, places, REFUSED, small } from '../../support/key-rig.js';

describe('KeyService', () => {
  let rig: KeyRig;
  let keys: KeyService;

  beforeEach(() => {
    rig = new KeyRig();
  });
  afterEach(() => rig.close());

  it('asks for each key of a provider that tells, at boot and every five minutes', async () => {
    keys = await rig.start();
    expect(rig.asked.toSorted()).toEqual(['key-1', 'key-2']);
    await rig.settle(FIVE_MINUTES);
    expect(rig.asked.toSorted()).toEqual(['key-1', 'key-1', 'key-2', 'key-2']);
    await rig.stop();
    await rig.settle(FIVE_MINUTES);
    expect(rig.asked).toHaveLength(4);
  });

  it('takes a key for what its tier says, and one that tells nothing for unrestricted', async () => {
    rig.answers['key-1'] = { status: 200, body: { tier: 'free', remaining: 7 } };
    keys = await rig.start();
    expect([keys.isWorth(at('one#1'), small), keys.isWorth(at('one#1', large), large)]).toEqual([true, false]);
    expect(keys.isWorth(at('one#2', large), large)).toBe(true);
    expect(keys.isWorth(at('two'), large)).toBe(true);
  });

  it.each([
    ['cannot be reached', new Error('ECONNREFUSED')],
    ['fails', { status: 500 }],
    ['says something else', { status: 200, body: { plan: 'gold' } }],
  ] satisfies readonly [string, KeyAnswer][])(
    'takes a key for a free one with 1,000 requests left where its provider %s',
    async (_, answer) => {
      rig.answers['key-1'] = answer;
      keys = await rig.start();
      expect(keys.isWorth(at('one#1', large), large)).toBe(false);
      expect(rig.fleet.keys.worthOf('one#1')).toEqual({
        tier: 'free',
        unit: 'requests',
        remaining: 1_000,
        isStale: true,
      });
    },
  );

  it('keeps the last word where a later check fails, and marks it stale', async () => {
    rig.answers['key-1'] = { status: 200, body: { tier: 'enterprise', remaining: 50 } };
    keys = await rig.start();
    rig.answers['key-1'] = new Error('ECONNRESET');
    await rig.settle(FIVE_MINUTES);
    expect(rig.fleet.keys.worthOf('one#1')).toEqual({
      tier: 'enterprise',
      unit: 'requests',
      remaining: 50,
      isStale: true,
    });
  });

  it.each([401, 403])('leaves a key out that is refused with %d, until a check passes', async (status) => {
    rig.answers['key-1'] = { status };
    keys = await rig.start();
    expect(rig.fleet.keys.parkingOf('one#1')).toMatchObject({ reason: 'refused' });
    await rig.settle(FIVE_MINUTES);
    expect(rig.fleet.keys.parkingOf('one#1')).toMatchObject({ reason: 'refused' });
    rig.answers['key-1'] = { status: 200, body: { tier: 'pro' } };
    await rig.settle(FIVE_MINUTES);
    expect(rig.fleet.keys.parkingOf('one#1')).toBeUndefined();
    expect(rig.fleet.keys.parkingOf('one#2')).toBeUndefined();
  });

  it('asks at once when a call was refused, but not again within half a minute', async () => {
    keys = await rig.start();
    await rig.settle(40_000);
    rig.answers['key-1'] = { status: 403 };
    rig.asked.length = 0;
    keys.failed(at('one#1').upstream, REFUSED);
    keys.failed(at('one#1').upstream, REFUSED);
    await rig.settle();
    expect(rig.asked).toEqual(['key-1']);
    expect(rig.fleet.keys.parkingOf('one#1')).toMatchObject({ reason: 'refused' });
    keys.failed(at('two').upstream, REFUSED);
    expect(rig.fleet.keys.parkingOf('two')).toMatchObject({ reason: 'refused' });
  });

  it('tries a refused key again after a minute where nobody can be rig.asked about it', async () => {
    keys = await rig.start();
    keys.failed(at('two').upstream, REFUSED);
    await rig.settle(59_000);
    expect(rig.fleet.keys.parkingOf('two')).toMatchObject({ reason: 'refused' });
    await rig.settle(1_000);
    expect(rig.fleet.keys.parkingOf('two')).toBeUndefined();
    keys.failed(at('two').upstream, new UpstreamFailure('key', 'insufficient_quota', 'used up'));
    await rig.settle(FIVE_MINUTES);
    expect(rig.fleet.keys.parkingOf('two')).toMatchObject({ reason: 'quota' });
  });

  it('leaves a used-up key out, also where the next check says that it is known and has nothing left', async () => {
    keys = await rig.start();
    keys.failed(at('one#1').upstream, new UpstreamFailure('key', 'insufficient_quota', 'used up'));
    rig.answers['key-1'] = { status: 200, body: { tier: 'pro', remaining: 0 } };
    await rig.settle(FIVE_MINUTES);
    expect(rig.fleet.keys.parkingOf('one#1')).toMatchObject({ reason: 'quota' });
    rig.answers['key-1'] = { status: 200, body: { tier: 'pro', remaining: 100 } };
    await rig.settle(FIVE_MINUTES);
    expect(rig.fleet.keys.parkingOf('one#1')).toBeUndefined();
  });

  it('takes a model’s keys in turn whatever becomes of those of its fallbacks, and whoever looks meanwhile', async () => {
    keys = await rig.start();
    const planner = new RoutePlanner(places, () => new OpenAiAdapter(new UndiciTransport()), keys);
    const request = (name: string): PlanRequest => ({
      names: [name],
      isExplicit: false,
      caller: { id: 'c', tier: 'enterprise', scopes: ['chat'], weight: 1, limits: {} },
      isStrict: false,
      body: {},
      bodyLength: 10,
      maxOutputTokens: 0,
      countPrompt: () => Promise.resolve(1),
    });
    const firstOf = ({ candidates }: RoutePlan): string | undefined => candidates[0]?.deployment.upstream.keyId;
    const smalls: (string | undefined)[] = [];
    const larges: (string | undefined)[] = [];
    for (let call = 0; call < 4; call += 1) {
      smalls.push(firstOf(await planner.plan(request('small'))));
      larges.push(firstOf(await planner.plan(request('large'))));
      await planner.preview(request('small'));
    }
    expect(smalls).toEqual(['one#1', 'one#2', 'one#1', 'one#2']);
    expect(larges).toEqual(['one#1', 'one#2', 'one#1', 'one#2']);
  });

  it('takes equal keys in turn, and the one with more left first; providers keep their order', async () => {
    keys = await rig.start();
    const deployments = places.liveDeployments(small);
    const orders = [1, 2, 3].map(() => {
      const [first, ...others] = keys.rotate(deployments);
      if (first !== undefined) keys.took(first);
      return [first, ...others].map((each) => each?.upstream.keyId);
    });
    expect(orders[0]).not.toEqual(orders[1]);
    expect(orders[0]).toEqual(orders[2]);
    for (const order of orders) expect(order[2]).toBe('two');
    Object.assign(rig.answers, {
      'key-1': { status: 200, body: { tier: 'pro', remaining: 100 } },
      'key-2': { status: 200, body: { tier: 'pro', remaining: 100 } },
    });
    await rig.settle(FIVE_MINUTES);
    for (let call = 0; call < 60; call += 1) rig.fleet.keys.spent('one#1', { requests: 1 });
    for (let turn = 0; turn < 3; turn += 1) {
      expect(keys.rotate(deployments).map(({ upstream }) => upstream.keyId)).toEqual(['one#2', 'one#1', 'two']);
    }
    for (let call = 0; call < 39; call += 1) rig.fleet.keys.spent('one#1', { requests: 1 });
    const need = { requests: 1, promptTokens: 0, outputTokens: 0, costUsd: 0 };
    expect([keys.isNearlyUsed(at('one#1'), need), keys.isNearlyUsed(at('one#2'), need)]).toEqual([true, false]);
  });
});
