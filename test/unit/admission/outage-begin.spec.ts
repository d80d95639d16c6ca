import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { AdmissionBusyError } from '../../../src/admission/index.js';
import { admittedWithin, DOWN, leftAlone } from '../../support/admission-outage.js';
import { type AdmissionPod, AdmissionPods, fill, refusalOf, scopeOf, wishFor } from '../../support/admission-pods.js';
import { pass } from '../../support/pass.js';
import { VirtualTime } from '../../support/test-time.js';

const time = new VirtualTime();
let pods: AdmissionPods;

beforeEach(() => {
  time.begin();
  pods = new AdmissionPods();
});
afterEach(async () => {
  await pods.close();
  time.end();
});

const RATE = scopeOf({ windows: [{ windowMs: 6_000, requests: 60 }] });

const admitted = (pod: AdmissionPod, forMs: number) => admittedWithin(pod, wishFor(RATE), forMs);

/** From now on its store does not answer; it notices with its next call. */
async function leave({ way, service }: AdmissionPod): Promise<void> {
  way.always(DOWN);
  await service.reserve(wishFor(RATE, { waitMs: 0, whenStoreDown: 'refuse' })).catch(() => undefined);
}

describe('AdmissionService, when its store has just gone away', () => {
  it('lets in a little of its part until nothing of before can be in the window, then all of it at an even pace', async () => {
    const pod = await leftAlone(pods, { pods: 3 });
    // A tenth of a third of 60, which others may have used just before.
    expect(await admitted(pod, 5_000)).toBe(2);
    await pass(1_300);
    // A third of 60 in 6 s: one in 300 ms.
    const later = await admitted(pod, 12_000);
    expect(later).toBeLessThanOrEqual(42);
    expect(later).toBeGreaterThanOrEqual(36);
  });

  it('goes on with what it had itself, as that becomes free', async () => {
    const pod = pods.pod({ pods: 3 });
    const first = await admitted(pod, 100);
    await pass(3_000);
    const second = await admitted(pod, 60);
    await leave(pod);
    // The spare alone while nothing is free.
    expect(await admitted(pod, 1_900)).toBe(2);
    // What it had first and then; the pace of its part is one in 300 ms.
    expect(first).toBe(10);
    expect(await admitted(pod, 3_000)).toBeLessThanOrEqual(first);
    expect(second).toBe(6);
  });

  it('takes nothing that others may have, where it was told that all is used', async () => {
    const [busy, pod] = [pods.pod({ pods: 3 }), pods.pod({ pods: 3 })];
    await fill(busy, wishFor(RATE));
    await refusalOf(AdmissionBusyError, pod.service.reserve(wishFor(RATE, { waitMs: 0 })));
    await leave(pod);
    expect(await admitted(pod, 5_000)).toBe(0);
    expect(await admitted(pod, 4_000)).toBeGreaterThan(0);
  });

  it('counts calls that are under way among its part of the slots, until they end', async () => {
    const pod = pods.pod({ pods: 3 });
    const wish = wishFor(scopeOf({ concurrency: 9 }), { waitMs: 0 });
    const before = [await pod.service.reserve(wish), await pod.service.reserve(wish)];
    await leave(pod);
    expect(await fill(pod, wish)).toHaveLength(1);
    await before[0]?.settle();
    await before[1]?.cancel();
    expect(await fill(pod, wish)).toHaveLength(2);
  });

  it('goes by its part of lower limits that were told before the outage, or are told in it', async () => {
    const pod = pods.pod({ pods: 2 });
    await pod.service.learn(RATE, [{ windowMs: 6_000, requests: 12 }], 60_000);
    await (await pod.service.reserve(wishFor(RATE))).settle();
    await leave(pod);
    await pass(8_000);
    const told = await admitted(pod, 11_000);
    expect(told).toBeLessThanOrEqual(12);
    expect(told).toBeGreaterThanOrEqual(8);
    await pod.service.learn(RATE, [{ windowMs: 6_000, requests: 4 }], 60_000);
    await pass(6_500);
    expect(await admitted(pod, 11_000)).toBeLessThanOrEqual(4);
  });
});
