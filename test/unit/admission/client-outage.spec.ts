import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import {
  type AdmissionServiceOptions,
  AdmissionStoreError,
  MemoryAdmissionStore,
  type Reservation,
} from '../../../src/admission/index.js';
import { StoreConfigurationError } from '../../../src/store/index.js';
import { admittedWithin, DOWN, leftAlone } from '../../support/admission-outage.js';
import { type AdmissionPod, AdmissionPods, fill, refusalOf, scopeOf, wishFor } from '../../support/admission-pods.js';
import { pass } from '../../support/pass.js';
import { VirtualTime } from '../../support/test-time.js';
import type { AdmissionFault } from '../../support/unreliable-admission.js';

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

const alone = (options: AdmissionServiceOptions = {}, fault: AdmissionFault = DOWN) => leftAlone(pods, options, fault);
const admitted = (pod: AdmissionPod, forMs: number) => admittedWithin(pod, wishFor(RATE), forMs);

describe('AdmissionService while the store is away', () => {
  it('refuses at once where the rule says so, and tells when to come again', async () => {
    const pod = await alone();
    const startedAt = performance.now();
    const error = await refusalOf(AdmissionStoreError, pod.service.reserve(wishFor(RATE, { whenStoreDown: 'refuse' })));
    expect(error).toMatchObject({ code: 'store_unavailable', isRetryable: true, retryAfterMs: 1_000 });
    expect(String(error.cause)).toContain('connection refused');
    time.expectAtMost(1, startedAt);
  });

  it.each([DOWN, 'unsent'] as const)('asks it nothing for each call but one probe (%j)', async (fault) => {
    const pod = await alone({ pods: 1 }, fault);
    const { acquire, beat } = pod.way.calls;
    const startedAt = performance.now();
    for (let call = 0; call < 500; call += 1)
      await (await pod.service.reserve(wishFor(RATE, { waitMs: 60_000 }))).settle();
    expect(pod.way.calls.acquire).toBe(acquire);
    expect(pod.way.calls.beat - beat).toBeLessThanOrEqual(1 + (performance.now() - startedAt) / 250);
  });

  it('begins every outage without a burst', async () => {
    const pod = await alone({ pods: 3 });
    await admitted(pod, 600);
    pod.way.heal();
    await pass(20_000);
    pod.way.always(DOWN);
    await pod.service.reserve(wishFor(RATE, { waitMs: 0, whenStoreDown: 'refuse' })).catch(() => undefined);
    expect(await admitted(pod, 600)).toBeLessThanOrEqual(3);
  });

  it('has its part of the slots', async () => {
    const pod = await alone({ pods: 3 });
    expect(await fill(pod, wishFor(scopeOf({ concurrency: 10 })))).toHaveLength(3);
  });

  it('refuses what it can know nothing of: budgets, and shares of less than one call', async () => {
    const pod = await alone({ pods: 3 });
    const budget = scopeOf({ budgets: [{ unit: 'usd', period: 'day', limit: 1_000_000 }] });
    for (const scope of [
      budget,
      scopeOf({ concurrency: 2 }),
      scopeOf({ windows: [{ windowMs: 1_000, requests: 2 }] }),
    ]) {
      await refusalOf(AdmissionStoreError, pod.service.reserve(wishFor(scope)));
    }
    const tokens = scopeOf({ windows: [{ windowMs: 1_000, tokens: 300 }] });
    const error = await refusalOf(AdmissionStoreError, pod.service.reserve(wishFor(tokens, { tokens: 101 })));
    expect(error.isRetryable).toBe(true);
  });

  it('tells its state, and recovers by itself', async () => {
    const pod = await alone();
    expect(pod.service.health.store).toBe('away');
    expect(pod.service.health.downForMs).toBeGreaterThan(1_000);
    expect(pod.observer.told.filter((word) => /^store (lost|away|back)$/.test(word))).toEqual([
      'store lost',
      'store away',
    ]);
    pod.way.heal();
    await pass(300);
    expect(pod.service.health).toEqual({ store: 'up', downForMs: 0 });
    expect(pod.observer.told.at(-1)).toBe('store back');
    const { acquire } = pod.way.calls;
    const reservation = await pod.service.reserve(wishFor(RATE));
    expect(reservation.isLocal).toBe(false);
    expect(pod.way.calls.acquire).toBe(acquire + 1);
    await reservation.settle();
  });

  it('has who waits wait on for a moment, before the rule holds', async () => {
    const pod = pods.pod();
    pod.way.always(DOWN);
    const wish = pod.service.reserve(wishFor(RATE, { whenStoreDown: 'refuse' }));
    await pass(700);
    pod.way.heal();
    const reservation = await wish;
    expect(reservation.isLocal).toBe(false);
    await reservation.settle();
  });

  it('sends who waits in its queue to its own share, and back again', async () => {
    const [pod, other] = [pods.pod({ pods: 2 }), pods.pod()];
    const scope = scopeOf({ concurrency: 2 });
    const holders = await fill(other, wishFor(scope));
    const waiters = [0, 1].map(() => pod.service.reserve(wishFor(scope, { waitMs: 100_000 })));
    const refused = pod.service.reserve(wishFor(scope, { waitMs: 100_000, whenStoreDown: 'refuse' }));
    await pass(1_500);
    pod.way.always(DOWN);
    await refusalOf(AdmissionStoreError, refused);
    const local = await Promise.race(waiters);
    expect(local.isLocal).toBe(true);
    pod.way.heal();
    await pass(1_000);
    expect(await other.service.inspect(scope)).toMatchObject({ open: 2, queued: 1 });
    for (const holder of holders) await holder.settle();
    const granted = await Promise.all(waiters);
    expect(granted.map(({ isLocal }) => isLocal).sort()).toEqual([false, true]);
    for (const reservation of granted) await reservation.settle();
    expect(await other.service.inspect(scope)).toMatchObject({ open: 0, queued: 0 });
  });

  it('settles after it what was reserved before, and books nothing of its own share in the store', async () => {
    const [pod, other] = [pods.pod({ pods: 2 }), pods.pod()];
    const scope = scopeOf({ windows: [{ windowMs: 60_000, tokens: 1_000 }] });
    const wish = wishFor(scope, { tokens: 100 });
    const before = await pod.service.reserve(wish);
    pod.way.always(DOWN);
    const within = await pod.service.reserve({ ...wish, waitMs: 0 });
    expect(within.isLocal).toBe(true);
    await before.settle({ tokens: 40 });
    await pass(2_000);
    pod.way.heal();
    await pass(1_000);
    expect(await other.service.inspect(scope)).toMatchObject({ open: 0, windows: [{ requests: 1 }] });
    await within.settle({ tokens: 60 });
    expect(await other.service.inspect(scope)).toMatchObject({ open: 0, windows: [{ requests: 1 }] });
    expect(pod.observer.told.filter((word) => word === 'settled deployment')).toHaveLength(2);
  });

  it('adds no burst of a store that kept its state to what was let in without it', async () => {
    const [pod, other] = [await alone({ pods: 2 }), await alone({ pods: 2 })];
    await Promise.all([admitted(pod, 6_000), admitted(other, 6_000)]);
    const before = await Promise.all([admitted(pod, 3_000), admitted(other, 3_000)]);
    for (const { way } of [pod, other]) way.heal();
    await pass(300);
    const after = await Promise.all([admitted(pod, 2_700), admitted(other, 2_700)]);
    const sum = [...before, ...after].reduce((total, count) => total + count, 0);
    // 60 in 6 s, and one call of each pod.
    expect(sum).toBeLessThanOrEqual(62);
    expect(sum).toBeGreaterThanOrEqual(50);
    await pass(6_500);
    expect((await fill(other, wishFor(RATE))).length).toBe(60);
  });

  it('paces nobody after an outage in which nobody was let in', async () => {
    const pod = await alone({ pods: 2 });
    pod.way.heal();
    await pass(300);
    expect((await fill(pod, wishFor(RATE))).length).toBe(60);
  });

  it('asks a store that has lost its state for no burst', async () => {
    const pod = pods.pod();
    await (await pod.service.reserve(wishFor(RATE))).settle();
    pod.way.store = new MemoryAdmissionStore();
    expect((await fill(pod, wishFor(RATE))).length).toBeLessThanOrEqual(2);
  });

  it('takes its place again that the store has lost', async () => {
    const pod = pods.pod();
    const scope = scopeOf({ concurrency: 1 });
    const holder = await pod.service.reserve(wishFor(scope));
    const waiter = pod.service.reserve(wishFor(scope));
    await pass(100);
    pod.way.store = new MemoryAdmissionStore();
    const startedAt = performance.now();
    const reservation = await waiter;
    time.expectAtMost(2_100, startedAt);
    await reservation.settle();
    await holder.settle();
    expect(await pod.service.inspect(scope)).toMatchObject({ open: 0, queued: 0 });
  });

  it('lets one damaged scope harm no other', async () => {
    const pod = pods.pod({ pods: 2 });
    const damaged = { fails: new StoreConfigurationError('wrong_type', 'a key holds something else') };
    pod.way.next('acquire', damaged);
    const error = await refusalOf(AdmissionStoreError, pod.service.reserve(wishFor(RATE, { whenStoreDown: 'refuse' })));
    expect(error.isRetryable).toBe(false);
    pod.way.next('acquire', damaged);
    const local = await pod.service.reserve(wishFor(RATE));
    expect(local.isLocal).toBe(true);
    await local.settle();
    expect(pod.service.health.store).toBe('up');
  });

  it('leaves its wait at once when the signal aborts', async () => {
    const pod = pods.pod();
    pod.way.always('unsent');
    const leaving = new AbortController();
    const wish = pod.service.reserve(wishFor(RATE, { signal: leaving.signal })).catch((error: unknown) => error);
    await pass(1_200);
    const startedAt = performance.now();
    leaving.abort(new Error('gone'));
    expect(await wish).toEqual(new Error('gone'));
    time.expectAtMost(1, startedAt);
  });

  it('holds on to nothing once all that was let in is settled', async () => {
    const pod = await alone({ pods: 1 });
    const taken: Reservation[] = [];
    for (let call = 0; call < 10; call += 1) taken.push(await pod.service.reserve(wishFor(RATE, { waitMs: 60_000 })));
    pod.way.heal();
    await pass(1_000);
    for (const reservation of taken) await reservation.settle();
    await pass(20_000);
    expect(time.timers()).toBe(0);
  });
});
