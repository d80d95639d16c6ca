import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { eventually } from '../support/eventually.js';
import { recordFigures } from '../support/figures.js';
import { sized } from '../support/proof-scale.js';
import { PODS, QuotaFleet } from '../support/quota-fleet.js';
import { type LoadedCall, loadFleet } from '../support/quota-fleet-load.js';

jest.setTimeout(sized(120_000, 600_000));

const WINDOW_MS = sized(2_000, 10_000);
/** Where windows are short and the machine is shared, a call may be on its way for longer than the guard, and nobody is to blame. */
const JUDGED_MS = sized(WINDOW_MS - 500, WINDOW_MS);
const REQUESTS = sized(30, 150);
const CALLERS = [{ name: 'one', lanes: sized(15, 45) }];
/** Until a store that is silent counts as away, with room for slow machines, and no window reaches back to before that, ms. */
const CHANGED_MS = Math.max(2_500, 1.2 * WINDOW_MS);
const OUTAGE_WINDOWS = 2;
/** What the pods may take at the beginning for which nobody has vouched, where they have heard nothing of the limit lately. */
const SPARE = PODS * Math.max(1, Math.floor(REQUESTS / PODS / 10));

const limits = { windows: [{ windowMs: WINDOW_MS, requests: REQUESTS }] };

describe('a fleet whose Redis is stopped and started amid its calls', () => {
  let fleet: QuotaFleet;
  let over: AbortController;

  beforeEach(async () => {
    const measured = `window=${String(JUDGED_MS / 1_000)}s`;
    over = new AbortController();
    fleet = await QuotaFleet.start({
      models: {
        degrade: { limits: { ...limits, whenStoreDown: 'degrade' } },
        refuse: { limits: { ...limits, whenStoreDown: 'refuse' } },
      },
      // Nothing is refused there, so that all is seen that is too much.
      judged: { degrade: measured, refuse: measured },
      callers: { one: {} },
    });
  });
  afterEach(async () => {
    over.abort();
    await fleet.close();
  });

  it('goes on with a third of the limits in each pod, or refuses, as its settings say, and recovers by itself', async () => {
    const loads = ['degrade', 'refuse'].map((model) => loadFleet(fleet, { model, callers: CALLERS }, over.signal));
    await sleep(1.5 * WINDOW_MS);
    const before = await mostInAWindow();
    const downAt = performance.now();
    await fleet.redis.crash();
    await eventually(async () => (await fleet.metric('coordinator_admission_degraded')) === PODS);
    await sleep(CHANGED_MS);
    const change = await mostInAWindow();
    await fleet.judge.reset();
    const awayAt = performance.now();
    await sleep(OUTAGE_WINDOWS * WINDOW_MS);
    const away = await mostInAWindow();
    const ready = await readiness();
    const backAt = performance.now();
    await fleet.redis.restart();
    await eventually(async () => (await fleet.metric('coordinator_admission_degraded')) === 0);
    const recoveredAt = performance.now();
    await sleep(1.5 * WINDOW_MS);
    const after = await mostInAWindow();
    over.abort();
    const [degraded = [], refused = []] = await Promise.all(loads);

    expect(before.degrade).toBeLessThanOrEqual(REQUESTS);
    // Each pod goes on with what it had itself, and knows that nothing was left.
    expect(change.degrade).toBeLessThanOrEqual(REQUESTS + SPARE);
    expect(away.degrade).toBeGreaterThan(0);
    expect(away.degrade).toBeLessThanOrEqual(REQUESTS);
    expect(away.refuse).toBe(0);
    // An empty store, which nobody takes for an empty window; it waits until all pods have noticed.
    expect(after.degrade).toBeLessThanOrEqual(REQUESTS);
    expect(after.refuse).toBeLessThanOrEqual(REQUESTS);
    expect(degraded.filter(({ status }) => status !== 200)).toEqual([]);
    expectRefusals(refused, awayAt, backAt);
    for (const calls of [degraded, refused])
      expect(calls.some(({ status, endedAt }) => status === 200 && endedAt > recoveredAt)).toBe(true);
    const down = { status: 'down', kind: 'redis', policy: 'refuse' };
    expect(ready).toMatchObject(ready.map(() => ({ status: 'error', details: { store: down } })));
    recordFigures('quota-outage', {
      ...{ pods: PODS, windowMs: WINDOW_MS, limit: REQUESTS, outageMs: Math.round(backAt - downAt) },
      mostInAWindow: { before: before.degrade, change: change.degrade, away: away.degrade, after: after.degrade },
      refusals: refused.filter(({ status }) => status === 503).length,
      recoveredAfterMs: Math.round(recoveredAt - backAt),
    });
  });

  /** That the provider saw since its books were opened. */
  async function mostInAWindow(): Promise<Readonly<Record<'degrade' | 'refuse', number>>> {
    const stats = await fleet.judge.stats();
    const most = (model: string): number =>
      stats.quotas.find((books) => books.model === model)?.windows[0]?.requests.most ?? 0;
    return { degrade: most('degrade'), refuse: most('refuse') };
  }

  function readiness(): Promise<readonly unknown[]> {
    return Promise.all(fleet.pods.map(async ({ url }) => (await fetch(`${url}/ready`)).json()));
  }
});

/** Each refusal says why; and nobody waits for one. */
function expectRefusals(calls: readonly LoadedCall[], from: number, to: number): void {
  const inOutage = calls.filter(({ sentAt }) => sentAt > from && sentAt < to);
  expect(inOutage.length).toBeGreaterThan(0);
  expect(inOutage.filter(({ status, code }) => status !== 503 || code !== 'store_unavailable')).toEqual([]);
  expect(calls.filter(({ status }) => ![200, 503].includes(status))).toEqual([]);
}
