import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import {
  AdmissionBudgetError,
  AdmissionBusyError,
  AdmissionOptionsError,
  AdmissionOverloadedError,
  AdmissionTooLargeError,
} from '../../../src/admission/index.js';
import { AdmissionPods, fill, refusalOf, scopeOf, wishFor } from '../../support/admission-pods.js';
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

const ONE_SLOT = scopeOf({ concurrency: 1 });

describe('AdmissionService.reserve()', () => {
  it('asks the store nothing for a scope without limits', async () => {
    const { service, way } = pods.pod();
    const reservation = await service.reserve(wishFor(scopeOf({})));
    expect(reservation.mayStillSend()).toBe(true);
    await reservation.settle({ tokens: 5 });
    expect(Object.values(way.calls)).toEqual([0, 0, 0, 0, 0, 0]);
  });

  it('costs two commands where there is room', async () => {
    const { service, way } = pods.pod();
    const reservation = await service.reserve(wishFor(ONE_SLOT));
    await reservation.settle();
    expect(way.calls).toMatchObject({ acquire: 1, settle: 1, beat: 0, cancel: 0 });
    expect(time.timers()).toBe(0);
  });

  it('refuses a try at once, with the rule and the time after which there is room', async () => {
    const { service } = pods.pod();
    const scope = scopeOf({ windows: [{ windowMs: 60_000, requests: 2 }] });
    await fill(pods.pod(), wishFor(scope));
    const error = await refusalOf(AdmissionBusyError, service.reserve(wishFor(scope, { waitMs: 0 })));
    expect(error).toMatchObject({
      rule: { kind: 'requests', windowMs: 60_000, limit: 2 },
      kind: 'deployment',
      scope: 'deployment:one',
      isEstimate: false,
      code: 'rate_limit_exceeded',
    });
    await pass(error.retryAfterMs);
    await (await service.reserve(wishFor(scope, { waitMs: 0 }))).settle();
  });

  it('refuses for good what is larger than the limit', async () => {
    const { service } = pods.pod();
    const scope = scopeOf({ windows: [{ windowMs: 60_000, tokens: 100 }] });
    const error = await refusalOf(AdmissionTooLargeError, service.reserve(wishFor(scope, { tokens: 101 })));
    expect(error).toMatchObject({ isRetryable: false, tokens: 101, rule: { kind: 'tokens', limit: 100 } });
  });

  it('refuses what a budget does not cover, and books what was spent', async () => {
    const { service, observer } = pods.pod();
    const scope = scopeOf({ budgets: [{ unit: 'usd', period: 'day', limit: 100 }] }, 'caller:acme');
    const wish = wishFor(scope, { microUsd: 60 });
    const first = await service.reserve(wish);
    await refusalOf(AdmissionBudgetError, service.reserve(wish));
    await first.settle({ microUsd: 40 });
    await (await service.reserve(wish)).settle({ microUsd: 60 });
    const error = await refusalOf(AdmissionBudgetError, service.reserve({ ...wish, microUsd: 1 }));
    expect(error).toMatchObject({ code: 'insufficient_quota', rule: { kind: 'budget', unit: 'usd', limit: 100 } });
    expect(observer.told.filter((word) => word.startsWith('booked'))).toEqual([
      'booked 40 usd a day on caller:acme',
      'booked 60 usd a day on caller:acme',
    ]);
  });

  it('lets in first come, first served, over all pods', async () => {
    const all = [pods.pod(), pods.pod(), pods.pod()];
    const served: number[] = [];
    const calls = Array.from({ length: 30 }, async (_, index) => {
      await pass(index);
      const reservation = await all[index % 3]?.service.reserve(wishFor(ONE_SLOT));
      served.push(index);
      await pass(20);
      await reservation?.settle();
    });
    await Promise.all(calls);
    expect(served).toEqual(Array.from({ length: 30 }, (_, index) => index));
  });

  it('asks nothing between a place in the queue and its grant, but once a second', async () => {
    const [first, second] = [pods.pod(), pods.pod()];
    const holder = await first.service.reserve(wishFor(ONE_SLOT));
    const waiters = Array.from({ length: 100 }, () => second.service.reserve(wishFor(ONE_SLOT, { waitMs: 600_000 })));
    await pass(900);
    expect(second.way.calls).toMatchObject({ acquire: 100, beat: 0 });
    await pass(9_200);
    expect(second.way.calls.beat).toBeLessThanOrEqual(20);
    await holder.settle();
    for (const waiter of waiters) await (await waiter).settle();
  });

  it('waits no longer than it wants to, and tells how long it would have been', async () => {
    const { service } = pods.pod();
    const holder = await service.reserve(wishFor(ONE_SLOT));
    const startedAt = performance.now();
    const error = await refusalOf(AdmissionBusyError, service.reserve(wishFor(ONE_SLOT, { waitMs: 5_000 })));
    expect(error).toMatchObject({ rule: { kind: 'slots', limit: 1 }, isEstimate: true });
    expect(error.retryAfterMs).toBeGreaterThan(0);
    time.expectAtMost(5_100, startedAt);
    await holder.settle();
    expect((await service.inspect(ONE_SLOT)).queued).toBe(0);
  });

  it('leaves at once when its signal aborts, and nothing stays of it', async () => {
    const { service, observer } = pods.pod();
    const holder = await service.reserve(wishFor(ONE_SLOT));
    const leaving = new AbortController();
    const waiters = Array.from({ length: 20 }, () =>
      service.reserve(wishFor(ONE_SLOT, { signal: leaving.signal })).catch((error: unknown) => error),
    );
    await pass(100);
    const startedAt = performance.now();
    leaving.abort(new Error('gone'));
    for (const waiter of waiters) expect(await waiter).toEqual(new Error('gone'));
    time.expectAtMost(1, startedAt);
    expect(observer.waitingNow).toBe(0);
    expect(await service.inspect(ONE_SLOT)).toMatchObject({ queued: 0, open: 1 });
    await holder.settle();
    await expect(service.reserve(wishFor(ONE_SLOT, { signal: leaving.signal }))).rejects.toThrow('gone');
  });

  it('undoes a grant whose call was given up while the answer was on its way', async () => {
    const { service, way } = pods.pod();
    way.next('acquire', { heardAfterMs: 500 });
    const leaving = new AbortController();
    const wish = service.reserve(wishFor(ONE_SLOT, { signal: leaving.signal }));
    const outcome = wish.catch((error: unknown) => error);
    await pass(100);
    leaving.abort(new Error('gone'));
    expect(await outcome).toEqual(new Error('gone'));
    await pass(1_000);
    expect(await service.inspect(ONE_SLOT)).toMatchObject({ open: 0, queued: 0 });
  });

  it('loses no turn with a lost message: a poll brings it', async () => {
    const [first, second] = [pods.pod(), pods.pod()];
    const holder = await first.service.reserve(wishFor(ONE_SLOT));
    const waiter = second.service.reserve(wishFor(ONE_SLOT));
    await pass(2_500);
    second.way.isHearing = false;
    const startedAt = performance.now();
    await holder.settle();
    await (await waiter).settle();
    time.expectAtMost(1_100, startedAt);
  });

  it('lets time-bound waiters in although the pod that had the pump is dead', async () => {
    const [first, second] = [pods.pod(), pods.pod()];
    const scope = scopeOf({ windows: [{ windowMs: 5_000, requests: 1 }] });
    await (await first.service.reserve(wishFor(scope))).settle();
    const dead = first.service.reserve(wishFor(scope, { waitMs: 60_000 })).catch(() => undefined);
    const living = second.service.reserve(wishFor(scope, { waitMs: 60_000 }));
    await pass(100);
    first.way.always('unsent');
    const startedAt = performance.now();
    await (await living).settle();
    // Its own window, that of the dead one's place, and the time until it counts as dead.
    time.expectAtMost(16_000, startedAt);
    first.way.heal();
    await first.service.close();
    await dead;
  });

  it('bounds how many wait, in a scope and in all', async () => {
    const { service } = pods.pod({ mostWaitingPerScope: 2, mostWaiting: 3 });
    const other = scopeOf({ concurrency: 1 }, 'deployment:two');
    const holders = [await service.reserve(wishFor(ONE_SLOT)), await service.reserve(wishFor(other))];
    const waiters = [service.reserve(wishFor(ONE_SLOT)), service.reserve(wishFor(ONE_SLOT))];
    await pass(10);
    const error = await refusalOf(AdmissionOverloadedError, service.reserve(wishFor(ONE_SLOT)));
    expect(error).toMatchObject({ code: 'overloaded', waiting: 2 });
    waiters.push(service.reserve(wishFor(other)));
    await refusalOf(AdmissionOverloadedError, service.reserve(wishFor(other)));
    for (const holder of holders) await holder.settle();
    for (const waiter of waiters) await (await waiter).settle();
  });

  it('takes no wish that is none', async () => {
    const { service } = pods.pod();
    const faults = [{ weight: 0 }, { tokens: Number.NaN }, { waitMs: -1 }, { holdMs: 0 }, { microUsd: Infinity }];
    for (const fault of faults) await refusalOf(AdmissionOptionsError, service.reserve(wishFor(ONE_SLOT, fault)));
  });
});
