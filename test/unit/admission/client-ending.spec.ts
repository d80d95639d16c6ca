import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { AdmissionClosedError, type ScopeState } from '../../../src/admission/index.js';
import { StoreTimeoutError, StoreUnavailableError } from '../../../src/store/index.js';
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

const SCOPE = scopeOf({
  windows: [{ windowMs: 60_000, requests: 100, tokens: 10_000 }],
  concurrency: 3,
  budgets: [{ unit: 'tokens', period: 'day', limit: 100_000 }],
});
const WISH = wishFor(SCOPE, { tokens: 100, holdMs: 120_000 });

function stateOf({ service }: AdmissionPod): Promise<ScopeState> {
  return service.inspect(SCOPE);
}

async function spentOf(pod: AdmissionPod): Promise<number | undefined> {
  return (await stateOf(pod)).budgets[0]?.spent;
}

describe('Reservation', () => {
  it('is settled once, with what the call took, whatever is said later', async () => {
    const pod = pods.pod();
    const reservation = await pod.service.reserve(WISH);
    await Promise.all([reservation.settle({ tokens: 30 }), reservation.settle({ tokens: 70 }), reservation.cancel()]);
    expect(pod.way.calls).toMatchObject({ settle: 1, cancel: 0 });
    expect(await stateOf(pod)).toMatchObject({ open: 0, reserved: { tokens: 0, microUsd: 0 } });
    expect(await spentOf(pod)).toBe(30);
  });

  it('is undone as if it had not been, where it was not sent', async () => {
    const pod = pods.pod();
    await (await pod.service.reserve(WISH)).cancel();
    expect(await stateOf(pod)).toMatchObject({ open: 0, windows: [{ requests: 0, tokens: 0 }] });
    expect(await spentOf(pod)).toBe(0);
  });

  it('keeps its entry once it was sent, and is booked as reserved where nobody says what it took', async () => {
    const pod = pods.pod();
    const reservation = await pod.service.reserve(WISH);
    reservation.sent();
    await reservation.cancel();
    expect(await stateOf(pod)).toMatchObject({ open: 0, windows: [{ requests: 1 }] });
    expect(await spentOf(pod)).toBe(100);
  });

  it('books what a provider says, and what was reserved where that is no number', async () => {
    const pod = pods.pod();
    await (await pod.service.reserve(WISH)).settle({ tokens: 0 });
    expect(await spentOf(pod)).toBe(0);
    await (await pod.service.reserve(WISH)).settle({ tokens: 250.2 });
    expect(await spentOf(pod)).toBe(251);
    for (const tokens of [Number.NaN, -5, Infinity]) await (await pod.service.reserve(WISH)).settle({ tokens });
    expect(await spentOf(pod)).toBe(551);
  });

  it('is kept through a long stream by signs of life, of all together', async () => {
    const [pod, other] = [pods.pod(), pods.pod()];
    const streams = await fill(pod, WISH);
    await pass(100_000);
    expect(await stateOf(other)).toMatchObject({ open: 3 });
    expect(pod.way.calls.beat).toBeLessThanOrEqual(34);
    for (const stream of streams) await stream.settle();
    expect(time.timers()).toBe(0);
  });

  it('frees the places of a dead process within 10 s', async () => {
    const [dead, other] = [pods.pod(), pods.pod()];
    await fill(dead, WISH);
    await pass(5_000);
    dead.way.always('unsent');
    const startedAt = performance.now();
    const freed = await Promise.all([1, 2, 3].map(() => other.service.reserve(WISH)));
    time.expectAtMost(10_000, startedAt);
    for (const reservation of freed) await reservation.settle();
  });

  it('keeps a strict place for as long as the call may take, whether its process lives or not', async () => {
    const [dead, other] = [pods.pod(), pods.pod()];
    await fill(dead, { ...WISH, slots: 'strict', holdMs: 30_000 });
    dead.way.always('unsent');
    await pass(25_000);
    expect(await stateOf(other)).toMatchObject({ open: 3 });
    await pass(10_000);
    expect(await stateOf(other)).toMatchObject({ open: 0 });
  });

  it('is booked as reserved when its time is over and nobody has settled it', async () => {
    const pod = pods.pod();
    const forgotten = await pod.service.reserve({ ...WISH, holdMs: 5_000 });
    await pass(5_100);
    expect(pod.observer.told.at(-1)).toBe('booked 100 tokens a day on deployment:one');
    expect(pod.observer.told).toContain('expired deployment');
    await forgotten.settle({ tokens: 1 });
    expect(await spentOf(pod)).toBe(100);
  });

  it('never fails the call for the sake of the store, and settles when the store is back', async () => {
    const [pod, other] = [pods.pod(), pods.pod()];
    const reservation = await pod.service.reserve(WISH);
    pod.way.always({ fails: new StoreUnavailableError('down') });
    await reservation.settle({ tokens: 30 });
    expect(await stateOf(other)).toMatchObject({ open: 1 });
    await pass(4_000);
    pod.way.heal();
    await pass(1_000);
    expect(await stateOf(other)).toMatchObject({ open: 0 });
    expect(await spentOf(other)).toBe(30);
    await pass(5_000);
    expect(time.timers()).toBe(0);
  });

  it('settles once although the first answer was lost', async () => {
    const pod = pods.pod();
    const reservation = await pod.service.reserve(WISH);
    pod.way.next('settle', 'lost');
    await reservation.settle({ tokens: 30 });
    await pass(3_000);
    expect(pod.way.calls.settle).toBeGreaterThanOrEqual(2);
    expect(await spentOf(pod)).toBe(30);
    expect(time.timers()).toBe(0);
  });

  it('stops saying how it ended once the lease is over', async () => {
    const pod = pods.pod();
    const reservation = await pod.service.reserve(WISH);
    pod.way.always({ fails: new StoreTimeoutError('evalsha', 300) }, 'settle');
    await reservation.settle();
    await pass(20_000);
    const { settle } = pod.way.calls;
    await pass(60_000);
    expect(pod.way.calls.settle).toBe(settle);
    expect(await stateOf(pod)).toMatchObject({ open: 0 });
    expect(time.timers()).toBe(0);
  });

  it('tells when it is too late to go out', async () => {
    const pod = pods.pod();
    const late = await pod.service.reserve(WISH);
    await pass(140);
    expect(late.mayStillSend()).toBe(true);
    await pass(11);
    expect(late.mayStillSend()).toBe(false);
    await late.cancel();
    expect(late.isOpen).toBe(false);
    expect(await stateOf(pod)).toMatchObject({ open: 0, windows: [{ requests: 0 }] });
  });
});

describe('AdmissionService.close()', () => {
  it('rejects who waits, lets the others settle, and leaves nothing', async () => {
    const [pod, other] = [pods.pod({ graceMs: 10_000 }), pods.pod()];
    const open = await fill(pod, WISH);
    const waiter = pod.service.reserve(WISH);
    await pass(100);
    const closed = pod.service.close();
    await refusalOf(AdmissionClosedError, waiter);
    await refusalOf(AdmissionClosedError, pod.service.reserve(WISH));
    await refusalOf(AdmissionClosedError, pod.service.reserve(wishFor(scopeOf({}))));
    await pass(1_000);
    for (const reservation of open) await reservation.settle({ tokens: 10 });
    await closed;
    expect(await stateOf(other)).toMatchObject({ open: 0, queued: 0, reserved: { tokens: 0 } });
    expect(await spentOf(other)).toBe(30);
    expect(time.timers()).toBe(0);
  });

  it('after the grace undoes what was never sent, and books the rest as reserved', async () => {
    const [pod, other] = [pods.pod({ graceMs: 2_000 }), pods.pod()];
    const open = await fill(pod, WISH);
    open[0]?.sent();
    const startedAt = performance.now();
    await pod.service.close();
    time.expectAtMost(2_100, startedAt);
    expect(await stateOf(other)).toMatchObject({ open: 0, windows: [{ requests: 1 }] });
    expect(await spentOf(other)).toBe(100);
    await open[0]?.settle({ tokens: 1 });
    expect(await spentOf(other)).toBe(100);
    expect(pod.observer.told.filter((word) => word === 'abandoned deployment')).toHaveLength(3);
  });

  it('ends over a store that is silent', async () => {
    const pod = pods.pod({ graceMs: 1_000 });
    await fill(pod, WISH);
    const waiter = pod.service.reserve(WISH);
    await pass(100);
    pod.way.always('unsent');
    const startedAt = performance.now();
    const closed = pod.service.close();
    await refusalOf(AdmissionClosedError, waiter);
    await closed;
    time.expectAtMost(4_100, startedAt);
    expect(time.timers()).toBe(0);
  });
});
