import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { breakDown, DEPLOYMENT, type FleetPod } from '../../../support/fleet-pods.js';
import { FakeFleet } from '../../../support/fake-fleet.js';

let fake: FakeFleet;
beforeEach(() => {
  fake = new FakeFleet();
});
afterEach(async () => {
  expect(await fake.end()).toBe(0);
});

describe('Standings, half-open', () => {
  async function halfOpen(count: number): Promise<FleetPod[]> {
    const made = await Promise.all(Array.from({ length: count }, () => fake.started()));
    const [first] = made;
    if (first !== undefined) breakDown(first.fleet);
    await fake.pass(5_000);
    return made;
  }

  it('lets one call of a hundred probe, and tells the others how long that may take', async () => {
    const made = await halfOpen(2);
    const claims = made.flatMap(({ fleet }) =>
      Array.from({ length: 50 }, () => fleet.standings.claimProbe(DEPLOYMENT)),
    );
    await fake.pass(0);
    expect((await Promise.all(claims)).filter(Boolean)).toHaveLength(1);
    for (const { fleet } of made) {
      expect(fleet.standings.of(DEPLOYMENT)).toMatchObject({ state: 'half-open', retryAfterMs: 5_000 });
    }
  });

  it('closes for all at the success of the probe', async () => {
    const [a, b] = await halfOpen(2);
    expect(await a?.fleet.standings.claimProbe(DEPLOYMENT)).toBe(true);
    await fake.pass(200);
    a?.fleet.standings.succeeded(DEPLOYMENT, { tookMs: 200 });
    await fake.pass(0);
    expect(b?.fleet.standings.of(DEPLOYMENT).state).toBe('closed');
    expect(await b?.fleet.standings.claimProbe(DEPLOYMENT)).toBe(true);
    expect(b?.told).toEqual([`opened ${DEPLOYMENT} 1 upstream_error`, `closed ${DEPLOYMENT}`]);
  });

  it('lets a call pass where another pod has closed it unheard', async () => {
    const [a, b] = await halfOpen(2);
    fake.store.isMute = true;
    await a?.fleet.standings.claimProbe(DEPLOYMENT);
    a?.fleet.standings.succeeded(DEPLOYMENT, { tookMs: 0 });
    await fake.pass(0);
    expect(b?.fleet.standings.of(DEPLOYMENT).state).toBe('half-open');
    expect(await b?.fleet.standings.claimProbe(DEPLOYMENT)).toBe(true);
    expect(b?.fleet.standings.of(DEPLOYMENT).state).toBe('closed');
  });

  it('opens for all at its failure, for twice as long', async () => {
    const [a, b] = await halfOpen(2);
    await a?.fleet.standings.claimProbe(DEPLOYMENT);
    a?.fleet.standings.failed(DEPLOYMENT, { code: 'timeout', tookMs: 0 });
    await fake.pass(0);
    expect(b?.fleet.standings.of(DEPLOYMENT)).toEqual({ state: 'open', retryAfterMs: 10_000, code: 'timeout' });
    expect(await b?.fleet.standings.claimProbe(DEPLOYMENT)).toBe(false);
  });

  it('keeps the claim of a probe that takes long, and gives it up in the end', async () => {
    const [a, b] = await halfOpen(2);
    await a?.fleet.standings.claimProbe(DEPLOYMENT);
    for (let waited = 0; waited < 140; waited += 5) {
      await fake.pass(5_000);
      expect(await b?.fleet.standings.claimProbe(DEPLOYMENT)).toBe(false);
    }
    await fake.pass(15_000);
    const claim = b?.fleet.standings.claimProbe(DEPLOYMENT);
    await fake.pass(0);
    expect(await claim).toBe(true);
  });

  it('takes the next call for a probe that came to nothing, but not because another call did', async () => {
    const [a, b] = await halfOpen(2);
    await fake.pass(1_000);
    await a?.fleet.standings.claimProbe(DEPLOYMENT);
    await fake.pass(10);
    a?.fleet.standings.letGo(DEPLOYMENT, { tookMs: 500 });
    await fake.pass(0);
    expect(await b?.fleet.standings.claimProbe(DEPLOYMENT)).toBe(false);
    a?.fleet.standings.letGo(DEPLOYMENT, { tookMs: 10 });
    await fake.pass(1_000);
    expect(await b?.fleet.standings.claimProbe(DEPLOYMENT)).toBe(true);
  });

  it('lets its probes go with close()', async () => {
    const [a, b] = await halfOpen(2);
    await a?.fleet.standings.claimProbe(DEPLOYMENT);
    await a?.fleet.close();
    expect(await b?.fleet.standings.claimProbe(DEPLOYMENT)).toBe(true);
  });

  it('is forgotten when nobody probes for ten minutes, and the observer hears of it', async () => {
    const [a] = await halfOpen(1);
    await fake.pass(600_000);
    expect(a?.fleet.standings.of(DEPLOYMENT).state).toBe('closed');
    await fake.pass(1_000);
    expect(a?.told.at(-1)).toBe(`closed ${DEPLOYMENT}`);
  });
});
