import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '../support/eventually.js';
import { recordFigures } from '../support/figures.js';
import { isFullProof, sized } from '../support/proof-scale.js';
import { PODS, QuotaFleet } from '../support/quota-fleet.js';
import { loadFleet } from '../support/quota-fleet-load.js';

jest.setTimeout(sized(120_000, 400_000));

/** Requests a minute: as configured, and as the provider allows. */
const WARM = { ours: 60, told: 20 };
const COLD = { ours: sized(60, 600), told: sized(20, 300) };
const FULL_WINDOWS = 2;

/** A caller that does not wait for the next minute. */
const impatient = { 'x-coordinator-timeout-ms': '15000' };

describe(`a provider that allows less than is configured, before ${String(PODS)} processes`, () => {
  let fleet: QuotaFleet;

  beforeAll(async () => {
    fleet = await QuotaFleet.start({
      models: {
        warm: { limits: { rpm: WARM.ours } },
        cold: { deployments: [{ provider: 'judge', model: 'cold', limits: { rpm: COLD.ours } }] },
      },
      judged: { warm: `rpm=${String(WARM.told)}`, cold: `rpm=${String(COLD.told)}` },
      callers: { one: { scopes: ['chat', 'admin'] } },
    });
  });
  afterAll(() => fleet.close());

  async function refusals(model: string): Promise<number> {
    return (await fleet.books(model)).refused.requests;
  }

  async function statuses(model: string, calls: number): Promise<readonly number[]> {
    const asked = Array.from({ length: calls }, async (_, pod) => {
      const response = await fleet.ask({ model, pod, caller: 'one', headers: impatient });
      await response.text();
      return response.status;
    });
    return Promise.all(asked);
  }

  it('is not asked for more by any of them, once one has heard it', async () => {
    expect(await statuses('warm', 1)).toEqual([200]);
    const limits = { windows: [{ windowMs: 60_000, requests: WARM.ours }] };
    await eventually(async () => (await fleet.inspect('model:warm', limits)).windows[0]?.requestLimit === WARM.told);
    const ends = await statuses('warm', WARM.told + 20);
    const answered = ends.filter((status) => status === 200).length;
    // On a busy machine some are too late to be sent, and let in anew when others have been refused their place.
    expect(answered).toBeGreaterThan(WARM.told / 2);
    expect(answered).toBeLessThan(WARM.told);
    expect(ends.filter((status) => status === 429)).toHaveLength(ends.length - answered);
    expect(await refusals('warm')).toBe(0);
  });

  it('is told of in the status and the metrics of all of them', async () => {
    for (const { url } of fleet.pods) {
      const response = await fetch(`${url}/v1/status`, { headers: { authorization: 'Bearer one' } });
      const { models } = (await response.json()) as { models: { model: string; deployments: unknown[] }[] };
      expect(models.find(({ model }) => model === 'warm')?.deployments).toMatchObject([
        { learned_limits: { rpm: WARM.told, tpm: null } },
      ]);
    }
    const labels = { deployment: 'judge/warm', unit: 'requests' };
    expect(await fleet.metric('coordinator_learned_limit', labels)).toBe(PODS * WARM.told);
  });

  it('refuses a cold fleet within its first window only', async () => {
    const over = new AbortController();
    const callers = [{ name: 'one', lanes: sized(30, 90) }];
    const load = loadFleet(fleet, { model: 'cold', callers }, over.signal);
    await sleep(sized(3_000, 61_000));
    const first = await refusals('cold');
    await fleet.judge.reset();
    await sleep(sized(3_000, FULL_WINDOWS * 60_000));
    over.abort();
    await load;
    const { refused, windows } = await fleet.books('cold');
    expect(refused.requests).toBe(0);
    expect(windows[0]?.requests.most).toBeLessThanOrEqual(COLD.told);
    if (isFullProof) expect(windows[0]?.requests.most).toBeGreaterThanOrEqual(0.95 * COLD.told);
    recordFigures('learned-limits', {
      pods: PODS,
      configured: COLD.ours,
      told: COLD.told,
      refusedFirst: first,
      refusedAfter: refused.requests,
    });
  });
});
