import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type AdmissionPod, AdmissionPods, fill, scopeOf, wishFor } from '../../support/admission-pods.js';
import { pass } from '../../support/pass.js';
import { VirtualTime } from '../../support/test-time.js';

const time = new VirtualTime();
let pods: AdmissionPods;
let pod: AdmissionPod;

beforeEach(() => {
  time.begin();
  pods = new AdmissionPods();
  pod = pods.pod();
});
afterEach(async () => {
  await pods.close();
  time.end();
});

const CALLER = scopeOf({ windows: [{ windowMs: 60_000, requests: 50 }], tokenRule: 'own' }, 'caller:acme');
const DEPLOYMENT = scopeOf({ concurrency: 2, windows: [{ windowMs: 60_000, requests: 1_000 }] });
const callerWish = wishFor(CALLER, { kind: 'caller' });
const deploymentWish = wishFor(DEPLOYMENT);
const both = [callerWish, deploymentWish];

async function expectNothingIn(scope: typeof CALLER): Promise<void> {
  const { open, queued, windows } = await pod.service.inspect(scope);
  expect([open, queued, windows[0]?.requests]).toEqual([0, 0, 0]);
}

describe('AdmissionService.reserveAtOnce()', () => {
  it('takes room in every scope, and nobody has waited', async () => {
    const taken = await pod.service.reserveAtOnce(both);
    expect(taken?.map(({ scope, queueMs, isOpen }) => [scope, queueMs, isOpen])).toEqual([
      ['caller:acme', 0, true],
      ['deployment:one', 0, true],
    ]);
    expect(pod.observer.told).toEqual(['granted caller', 'granted deployment']);
    for (const reservation of taken ?? []) await reservation.cancel();
    await expectNothingIn(CALLER);
  });

  it('leaves nothing in any where one has no room, and says nothing of it', async () => {
    const held = await fill(pods.pod(), deploymentWish);
    expect(await pod.service.reserveAtOnce(both)).toBeUndefined();
    await pass(10);
    await expectNothingIn(CALLER);
    expect(pod.observer.told).toEqual([]);
    for (const reservation of held) await reservation.cancel();
    await expectNothingIn(DEPLOYMENT);
  });

  it('takes nothing from anybody while the last who asked one of them was refused', async () => {
    const held = await fill(pods.pod(), deploymentWish);
    await pod.service.reserveAtOnce(both);
    const { acquire } = pod.way.calls;
    expect(await pod.service.reserveAtOnce(both)).toBeUndefined();
    expect(pod.way.calls.acquire).toBe(acquire);
    for (const reservation of held) await reservation.cancel();
    await (await pod.service.reserve(deploymentWish)).cancel();
    const taken = await pod.service.reserveAtOnce(both);
    expect(taken).toHaveLength(2);
    for (const reservation of taken ?? []) await reservation.cancel();
  });

  it('leaves it to reserve() where the store does not answer', async () => {
    pod.way.always('unsent');
    const asked = pod.service.reserveAtOnce(both);
    await pass(1_500);
    expect(await asked).toBeUndefined();
    expect(pod.service.health.store).not.toBe('up');
    const { acquire } = pod.way.calls;
    expect(await pod.service.reserveAtOnce(both)).toBeUndefined();
    expect(pod.way.calls.acquire).toBe(acquire);
    pod.way.heal();
    await pass(5_000);
    await expectNothingIn(CALLER);
  });

  it('ends with the reason of a caller who leaves meanwhile, and undoes what was granted', async () => {
    const leaving = new AbortController();
    pod.way.next('acquire', { heardAfterMs: 100 });
    const asked = pod.service.reserveAtOnce(both.map((wish) => ({ ...wish, signal: leaving.signal })));
    const left = expect(asked).rejects.toThrow('gone');
    await pass(50);
    leaving.abort(new Error('gone'));
    await pass(200);
    await left;
    await expectNothingIn(CALLER);
    await expectNothingIn(DEPLOYMENT);
  });
});
