import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { breakDown, DEPLOYMENT, KEY, MODEL, OTHER } from '../../../support/fleet-pods.js';
import { FakeFleet } from '../../../support/fake-fleet.js';

let fake: FakeFleet;
beforeEach(() => {
  fake = new FakeFleet();
});
afterEach(async () => {
  expect(await fake.end()).toBe(0);
});

describe('Fleet', () => {
  it('knows at once what it has seen, and the others know of an opening without waiting for a read', async () => {
    const [a, b] = [await fake.started(), await fake.started()];
    breakDown(a.fleet);
    expect(a.fleet.standings.of(DEPLOYMENT)).toEqual({ state: 'open', retryAfterMs: 5_000, code: 'upstream_error' });
    await fake.pass(0);
    expect(b.fleet.standings.of(DEPLOYMENT)).toEqual({ state: 'open', retryAfterMs: 5_000, code: 'upstream_error' });
    expect(b.fleet.standings.of(OTHER)).toEqual({ state: 'closed', retryAfterMs: 0 });
    expect(a.told).toEqual([`opened ${DEPLOYMENT} 1 upstream_error`]);
    expect(b.told).toEqual(a.told);
  });

  it('does not ask about what it has said itself', async () => {
    const { fleet } = await fake.started();
    breakDown(fleet);
    fleet.keys.park(KEY, 'quota', 5_000);
    const before = fake.store.asked.length;
    await fake.pass(200);
    expect(fake.store.asked.slice(before)).toEqual(['standing 1 3', 'parking 1 1']);
  });

  it('goes by the store’s clock, however wrong its own is', async () => {
    const [late, early] = [fake.pod({ wrongByMs: -3_600_000 }), fake.pod({ wrongByMs: 3_600_000 })];
    await Promise.all([late.fleet.start(), early.fleet.start()]);
    breakDown(late.fleet);
    await fake.pass(0);
    for (const { fleet } of [late, early]) expect(fleet.standings.of(DEPLOYMENT).retryAfterMs).toBe(5_000);
    early.fleet.limits.told(DEPLOYMENT, {
      'x-ratelimit-remaining-requests': '1',
      'x-ratelimit-reset-requests': String((Date.now() + 3_600_000 + 9_000) / 1_000),
    });
    expect(early.fleet.limits.of(DEPLOYMENT)).toMatchObject([{ resetMs: 9_000 }]);
  });

  it('keeps no timer for somebody who looks, and reads once a second for him at most', async () => {
    const [{ fleet }, other] = [await fake.started(), await fake.started()];
    await fake.pass(15_000);
    breakDown(other.fleet);
    await fake.pass(15_000);
    const before = fake.store.asked.length;
    const looks: string[] = [];
    for (let look = 0; look < 50; look += 1) {
      looks.push(fleet.look(() => fleet.standings.of(DEPLOYMENT).state));
      await fake.pass(200);
    }
    expect(fake.store.asked.length - before).toBeLessThanOrEqual(6 * 11);
    expect(looks.at(-1)).toBe('half-open');
    expect(jest.getTimerCount()).toBe(0);
  });

  it('costs nothing for a success while nothing is wrong', async () => {
    const { fleet } = await fake.started();
    for (let call = 0; call < 1_000; call += 1) {
      fleet.standings.of(DEPLOYMENT);
      fleet.standings.succeeded(DEPLOYMENT, { tookMs: 500 });
    }
    await fake.pass(900);
    expect(fake.store.changes).toBe(0);
  });

  it('sends what a second of calls has taught it in four batches at most', async () => {
    const { fleet } = await fake.started();
    const before = fake.store.asked.length;
    for (let call = 0; call < 200; call += 1) {
      fleet.latencies.streamed(MODEL, 300);
      fleet.tokens.counted(MODEL, { ours: 100, providers: 110 });
      fleet.limits.told(DEPLOYMENT, {
        'x-ratelimit-remaining-requests': String(500 - call),
        'x-ratelimit-reset-requests': '60s',
      });
      await fake.pass(5);
    }
    const batches = fake.store.asked.slice(before);
    expect(batches.filter((words) => words.startsWith('latency')).length).toBeLessThanOrEqual(5);
    expect(batches.length).toBeLessThanOrEqual(3 * 4 + 6);
    expect(fleet.limits.of(DEPLOYMENT)).toMatchObject([{ unit: 'requests', remaining: 301 }]);
  });

  it('has what another pod has learned within a second', async () => {
    const [a, b] = [await fake.started(), await fake.started()];
    for (let call = 0; call < 20; call += 1) a.fleet.latencies.streamed(MODEL, 4_000);
    a.fleet.tokens.counted(MODEL, { ours: 100, providers: 180 });
    a.fleet.keys.checked(KEY, { tier: 'pro', remaining: 7 });
    await fake.pass(1_250);
    expect(b.fleet.latencies.firstTokenLimitMs(MODEL)).toBe(10_000);
    expect(b.fleet.tokens.of(MODEL)).toBe(1.1);
    expect(b.fleet.keys.worthOf(KEY)).toEqual({ tier: 'pro', unit: 'requests', remaining: 7, isStale: false });
  });

  it('counts the strikes of all pods together', async () => {
    const [a, b] = [await fake.started(), await fake.started()];
    a.fleet.standings.failed(DEPLOYMENT, { code: 'timeout', tookMs: 5 });
    b.fleet.standings.failed(DEPLOYMENT, { code: 'timeout', tookMs: 5 });
    await fake.pass(300);
    a.fleet.standings.failed(DEPLOYMENT, { code: 'timeout', tookMs: 5 });
    await fake.pass(300);
    expect(a.fleet.standings.of(DEPLOYMENT).state).toBe('open');
    expect(b.fleet.standings.of(DEPLOYMENT).state).toBe('open');
  });

  it('has no timer ten seconds after the last call, and one again at the next', async () => {
    const { fleet } = await fake.started();
    await fake.pass(9_000);
    expect(jest.getTimerCount()).toBe(1);
    await fake.pass(1_500);
    expect(jest.getTimerCount()).toBe(0);
    const before = fake.store.asked.length;
    await fake.pass(60_000);
    expect(fake.store.asked.length).toBe(before);
    fleet.standings.of(DEPLOYMENT);
    expect(jest.getTimerCount()).toBe(1);
    await fake.pass(0);
    expect(fake.store.asked.length).toBe(before + 6);
  });

  it('hears of an opening while it is idle', async () => {
    const [idle, busy] = [await fake.started(), await fake.started()];
    await fake.pass(30_000);
    breakDown(busy.fleet);
    await fake.pass(0);
    expect(idle.told).toEqual([`opened ${DEPLOYMENT} 1 upstream_error`]);
  });

  it('has no timer after close(), and hands in what it has learned', async () => {
    const [a, b] = [fake.pod(), fake.pod()];
    await a.fleet.start();
    for (let call = 0; call < 20; call += 1) a.fleet.latencies.streamed(MODEL, 4_000);
    await a.fleet.close();
    expect(jest.getTimerCount()).toBe(0);
    a.fleet.standings.of(DEPLOYMENT);
    expect(jest.getTimerCount()).toBe(0);
    await b.fleet.start();
    expect(b.fleet.latencies.firstTokenLimitMs(MODEL)).toBe(10_000);
  });

  it('refuses ids that are not the catalogue’s', () => {
    const { fleet } = fake.pod();
    expect(() => fleet.standings.of('x')).toThrow(RangeError);
    expect(() => fleet.isNearlyUsed('x')).toThrow(RangeError);
    expect(() => {
      fleet.latencies.streamed('x', 5);
    }).toThrow(RangeError);
  });
});

describe('Fleet, while the store is away', () => {
  it('goes on with its own knowledge, says so once, and hands in later what it has seen', async () => {
    const [a, b] = [fake.pod(), fake.pod()];
    fake.store.state = 'down';
    await Promise.all([a.fleet.start(), b.fleet.start()]);
    breakDown(a.fleet);
    a.fleet.keys.park(KEY, 'quota', 60_000);
    for (let call = 0; call < 300; call += 1) a.fleet.latencies.streamed(MODEL, 4_000);
    await fake.pass(3_000);
    expect(a.fleet.standings.of(DEPLOYMENT)).toMatchObject({ state: 'open', retryAfterMs: 2_000 });
    expect(a.fleet.keys.parkingOf(KEY)).toEqual({ reason: 'quota', leftMs: 57_000 });
    expect(a.fleet.latencies.firstTokenLimitMs(MODEL)).toBe(10_000);
    expect(b.fleet.standings.of(DEPLOYMENT).state).toBe('closed');
    const told = ['store lost', `opened ${DEPLOYMENT} 1 upstream_error`, `parked ${KEY} quota`];
    expect(a.told).toEqual(told);
    fake.store.back();
    await fake.pass(1_000);
    expect(a.told).toEqual([...told, 'store back']);
    expect(a.fleet.standings.of(DEPLOYMENT)).toMatchObject({ state: 'open', retryAfterMs: 1_000 });
    // Carried over with the time that was left of it, not with a time of its own.
    expect(b.fleet.standings.of(DEPLOYMENT)).toMatchObject({ state: 'open', retryAfterMs: 1_000 });
    expect(b.fleet.keys.parkingOf(KEY)).toEqual({ reason: 'quota', leftMs: 56_000 });
    expect(b.fleet.latencies.firstTokenLimitMs(MODEL)).toBe(10_000);
  });

  it('neither waits nor fails when the store does not answer, and probes for itself', async () => {
    const { fleet, told } = await fake.started();
    breakDown(fleet);
    await fake.pass(5_000);
    fake.store.state = 'hangs';
    const claim = fleet.standings.claimProbe(DEPLOYMENT);
    expect(await fleet.standings.claimProbe(DEPLOYMENT)).toBe(false);
    await fake.pass(250);
    expect(await claim).toBe(true);
    fleet.standings.succeeded(DEPLOYMENT, { tookMs: 100 });
    expect(fleet.standings.of(DEPLOYMENT).state).toBe('closed');
    fake.store.back();
    await fake.pass(0);
    expect(fleet.standings.of(DEPLOYMENT).state).toBe('closed');
    expect(told.at(-1)).toBe(`closed ${DEPLOYMENT}`);
  });
});
