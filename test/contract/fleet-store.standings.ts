import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { type Standing, type StandingChange, standingTopic } from '../../src/ai/fleet/topics/standing.topic.js';
import { type FleetBench, START_MS, tell } from '../support/fleet-bench.js';

const FAILED = { kind: 'failed', tookMs: 100, retryAfterMs: 0, code: 'upstream_error' } as const;
const SUCCEEDED = { kind: 'succeeded', tookMs: 100 } as const;

const claim = (process: string, leaseMs = 5_000): StandingChange => ({ kind: 'claimed', process, leaseMs });
const asked = (retryAfterMs: number): StandingChange => ({ ...FAILED, retryAfterMs, code: 'rate_limit_exceeded' });

/** The breaker. */
export function describeStandings(start: () => Promise<FleetBench>): void {
  let bench: FleetBench;
  beforeEach(async () => {
    bench = await start();
  });
  afterEach(() => bench.close());

  const told = (...changes: StandingChange[]): Promise<Standing | undefined> =>
    tell(bench, standingTopic, 'p/0/m', changes);
  const pass = (ms: number): void => {
    bench.clock.us += ms * 1_000;
  };

  it('opens at the third failure within 30 s, and tells the others', async () => {
    expect(await told(FAILED)).toMatchObject({ openings: 0 });
    pass(14_999);
    expect(await told(FAILED)).toMatchObject({ openings: 0 });
    expect(await bench.heard()).toEqual([]);
    pass(14_999);
    const now = START_MS + 29_998;
    expect(await told(FAILED)).toMatchObject({
      openings: 1,
      since: now,
      openUntil: now + 5_000,
      code: 'upstream_error',
    });
    expect(await bench.heard()).toEqual([{ topic: 'standing', from: 'p1' }]);
  });

  it('does not open at failures that are too far apart, or have a success between', async () => {
    await told(FAILED, FAILED);
    pass(30_000);
    expect(await told(FAILED)).toMatchObject({ openings: 0 });
    expect(await told(FAILED, SUCCEEDED, FAILED, FAILED)).toMatchObject({ openings: 0 });
  });

  it('forgets strikes by a success, and by time', async () => {
    await told(FAILED, FAILED);
    expect(await told(SUCCEEDED)).toBeUndefined();
    await told(FAILED);
    pass(30_000);
    expect(await told()).toBeUndefined();
  });

  it('opens at once for as long as the provider asks, but not for ever', async () => {
    expect(await told(asked(1_500))).toMatchObject({ openings: 1, openUntil: START_MS + 1_500 });
    // Another call's answer may ask for more.
    expect(await told(asked(1_000), asked(2_000))).toMatchObject({ openings: 1, openUntil: START_MS + 2_000 });
    expect(await tell(bench, standingTopic, 'other', [asked(999_999_999)])).toMatchObject({
      openUntil: START_MS + 300_000,
    });
  });

  it('stays open whatever happens, and not longer for that', async () => {
    await told(FAILED, FAILED, FAILED);
    pass(4_999);
    expect(await told(FAILED, SUCCEEDED, claim('p1'))).toMatchObject({
      openings: 1,
      openUntil: START_MS + 5_000,
      prober: '',
    });
  });

  it('lets one probe while half-open: the first that claims it, until its lease is over', async () => {
    await told(FAILED, FAILED, FAILED);
    pass(5_000);
    expect(await told(claim('p1'), claim('p2'))).toMatchObject({ prober: 'p1' });
    pass(4_000);
    expect(await told(claim('p1'))).toMatchObject({ prober: 'p1', probeUntil: START_MS + 14_000 });
    pass(4_999);
    expect(await told(claim('p2'))).toMatchObject({ prober: 'p1' });
    pass(1);
    expect(await told(claim('p2'))).toMatchObject({ prober: 'p2' });
  });

  it('is claimed anew when the prober lets go, and by nobody else letting go', async () => {
    await told(FAILED, FAILED, FAILED);
    pass(5_000);
    expect(await told(claim('p1'), { kind: 'let-go', process: 'p2' }, claim('p2'))).toMatchObject({ prober: 'p1' });
    expect(await told({ kind: 'let-go', process: 'p1' }, claim('p2'))).toMatchObject({ prober: 'p2' });
  });

  it('closes at a success, and forgets the outage in the end', async () => {
    await told(FAILED, FAILED, FAILED);
    await bench.heard();
    pass(5_200);
    expect(await told(claim('p1'))).toMatchObject({ openings: 1 });
    expect(await bench.heard()).toEqual([]);
    expect(await told(SUCCEEDED)).toMatchObject({ openings: 0, openUntil: 0, prober: '', since: START_MS + 5_200 });
    expect(await bench.heard()).toHaveLength(1);
    pass(150_000);
    expect(await told()).toBeUndefined();
  });

  it('opens for twice as long at each failed probe, up to a minute', async () => {
    await told(FAILED, FAILED, FAILED);
    const lengths: number[] = [];
    for (let probe = 0; probe < 6; probe += 1) {
      const { openUntil = 0 } = (await told()) ?? {};
      const now = bench.clock.us / 1_000;
      lengths.push(openUntil - now);
      pass(openUntil - now + 100);
      await told(claim('p1'), FAILED);
    }
    expect(lengths).toEqual([5_000, 10_000, 20_000, 40_000, 60_000, 60_000]);
    expect(await told(asked(100_000))).toMatchObject({ openings: 7, openUntil: bench.clock.us / 1_000 + 100_000 });
  });

  it('starts with the shortest time again after a success', async () => {
    await told(FAILED, FAILED, FAILED);
    pass(5_100);
    await told(FAILED);
    pass(10_100);
    await told(SUCCEEDED);
    pass(1_000);
    await told(FAILED, FAILED, FAILED);
    expect(await told()).toMatchObject({ openings: 1, openUntil: bench.clock.us / 1_000 + 5_000 });
  });

  it('does not listen to calls that began before the outage or its end', async () => {
    await told(FAILED, FAILED, FAILED);
    pass(5_000);
    const straggler = { tookMs: 6_000 };
    expect(await told({ ...FAILED, ...straggler }, { ...SUCCEEDED, ...straggler })).toMatchObject({ openings: 1 });
    pass(100);
    await told(SUCCEEDED);
    pass(20_000);
    const hung = { ...FAILED, tookMs: 25_000 };
    expect(await told(hung, hung, hung, hung)).toMatchObject({ openings: 0, strikes: [] });
    expect(await told(FAILED, FAILED, FAILED)).toMatchObject({ openings: 1 });
  });

  it('listens to a call that began with the outage, and tells of it while it is half-open', async () => {
    await told(FAILED, FAILED, FAILED);
    pass(5_000);
    expect(await told({ ...FAILED, tookMs: 5_001 })).toMatchObject({ openings: 1 });
    expect(await told({ ...FAILED, tookMs: 5_000 })).toMatchObject({ openings: 2 });
    pass(10_000);
    expect(await told({ ...SUCCEEDED, tookMs: 10_001 })).toMatchObject({ openings: 2 });
    expect(await told({ ...SUCCEEDED, tookMs: 10_000 })).toMatchObject({ openings: 0 });
  });

  it('takes what happened a while ago as of then', async () => {
    pass(60_000);
    const now = bench.clock.us / 1_000;
    await tell(bench, standingTopic, { id: 'd', agoMs: 4_000 }, [FAILED, FAILED, FAILED]);
    expect(await tell(bench, standingTopic, 'd', [])).toMatchObject({ since: now - 4_000, openUntil: now + 1_000 });
    // The success was before the failures, though it is told after them.
    expect(await tell(bench, standingTopic, 'e', [FAILED, FAILED])).toMatchObject({ strikes: [now, now] });
    expect(await tell(bench, standingTopic, { id: 'e', agoMs: 1 }, [SUCCEEDED])).toMatchObject({ strikes: [now, now] });
    expect(await tell(bench, standingTopic, { id: 'f', agoMs: 40_000 }, [FAILED])).toBeUndefined();
  });

  it('waits ten minutes for a probe', async () => {
    await told(FAILED, FAILED, FAILED);
    pass(604_999);
    expect(await told()).toMatchObject({ openings: 1 });
    pass(1);
    expect(await told()).toBeUndefined();
  });
}
