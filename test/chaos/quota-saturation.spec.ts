import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { scopeRules } from '../../src/admission/index.js';
import { recordFigures } from '../support/figures.js';
import { isFullProof, sized } from '../support/proof-scale.js';
import { PODS, QuotaFleet } from '../support/quota-fleet.js';
import { type LoadedCall, type LoadedCaller, loadFleet, overtaken, sharesOf } from '../support/quota-fleet-load.js';
import type { QuotaBooks } from '../support/simulator.js';

jest.setTimeout(sized(120_000, 900_000));

const WINDOW_MS = sized(2_000, 60_000);
/** Where windows are short and the machine is shared, a call may be on its way for longer than the guard, and nobody is to blame. */
const JUDGED_MS = sized(WINDOW_MS - 500, WINDOW_MS);
const REQUESTS = sized(32, 600);
const TOKENS = sized(3_000, 30_000);
const SLOTS = 5;
/** After the first, in which the pods have their first calls. */
const WHOLE_WINDOWS = sized(3, 4);
const MAX_TOKENS = 100;
const WEIGHTS: Readonly<Record<string, number>> = { one: 1, two: 2, four: 4, late: 1 };
/** Calls at one time, of each caller by its weight: whoever gets more of a burst has more that wait for it. */
const AT_ONE_TIME = sized(80, 504);
const WEIGHT_OF_ALL = Object.values(WEIGHTS).reduce((sum, weight) => sum + weight, 0);

const WARM_MS = 1_500;
/** Calls that a busy machine may answer in the next of a few short windows. */
const AT_THE_EDGES = sized(4, 0);

/** From one burst to the next: a charge is kept for a window and the guard, to the next bucket of the calendar. */
const rule = scopeRules({ windows: [{ windowMs: WINDOW_MS, requests: REQUESTS }] }).windows[0];
const CYCLE_MS = Math.ceil((rule?.spanMs ?? 0) + (rule?.bucketMs ?? 0) / 2);
/** What the guard leaves of a window: 99.5 % of a minute. */
const REACHABLE = WINDOW_MS / CYCLE_MS;

describe(`${String(PODS)} pods under more load than their limits let in`, () => {
  let fleet: QuotaFleet;
  let byRequests: readonly LoadedCall[];
  let readmitted: number;
  let books: Readonly<Record<'requests' | 'tokens' | 'slots', QuotaBooks>>;

  beforeAll(async () => {
    const window = `${String(JUDGED_MS / 1_000)}s`;
    const requests = `requests=${String(REQUESTS)}/${window}`;
    fleet = await QuotaFleet.start({
      models: {
        requests: { limits: { windows: [{ windowMs: WINDOW_MS, requests: REQUESTS }] } },
        tokens: { limits: { windows: [{ windowMs: WINDOW_MS, tokens: TOKENS }] } },
        slots: {
          limits: { concurrency: SLOTS },
          simulated: { firstTokenMs: sized(400, 200), tokensPerSecond: 100_000 },
        },
        uncoordinated: {},
        warm: { limits: { concurrency: 12 } },
      },
      judged: {
        requests,
        tokens: `tokens=${String(TOKENS)}/${window},rule=safe`,
        slots: `concurrency=${String(SLOTS)}`,
        uncoordinated: requests,
      },
      callers: Object.fromEntries(Object.entries(WEIGHTS).map(([name, weight]) => [name, { weight }])),
      environment: { REQUEST_DEADLINE_MS: '600000' },
    });
    // Programs are slow at first.
    await loadFleet(fleet, { model: 'warm', callers: [{ name: 'one', lanes: 12 }] }, AbortSignal.timeout(WARM_MS));
    const over = new AbortController();
    const load = (model: string, atOneTime: number, body = {}): Promise<readonly LoadedCall[]> =>
      loadFleet(fleet, { model, body, callers: byWeight(atOneTime) }, over.signal);
    const loads = [load('requests', AT_ONE_TIME), load('tokens', 40, { max_tokens: MAX_TOKENS }), load('slots', 60)];
    await sleep((WHOLE_WINDOWS + 1.5) * CYCLE_MS + 500);
    // Before everybody leaves: the judge sees a caller leave later than the pod does.
    const [ofRequests, ofTokens, ofSlots] = await Promise.all(
      ['requests', 'tokens', 'slots'].map((model) => fleet.books(model)),
    );
    if (ofRequests === undefined || ofTokens === undefined || ofSlots === undefined) throw new Error('no books');
    books = { requests: ofRequests, tokens: ofTokens, slots: ofSlots };
    readmitted = await fleet.metric('coordinator_reservations_ended_total', { kind: 'model', end: 'cancelled' });
    over.abort();
    byRequests = (await Promise.all(loads))[0] ?? [];
  });
  afterAll(() => fleet.close());

  it('send the provider every request that its window has room for, and none that it would refuse', () => {
    const { refused, windows } = books.requests;
    expect(refused).toEqual({ requests: 0, tokens: 0, concurrency: 0 });
    expect(windows[0]?.requests.most).toBeLessThanOrEqual(REQUESTS);
    const shares = wholeWindows(byRequests);
    const used = [...shares.values()].reduce((sum, share) => sum + share, 0) / (REQUESTS * WHOLE_WINDOWS);
    expect(used).toBeGreaterThanOrEqual(isFullProof ? 0.98 / REACHABLE : 0.8);
    recordFigures('quota-saturation', {
      ...{ pods: PODS, atOneTime: AT_ONE_TIME, windowMs: WINDOW_MS, windows: WHOLE_WINDOWS },
      ...{ limit: REQUESTS, mostInAWindow: windows[0]?.requests.most, upstream429s: refused.requests },
      utilisation: round(used * REACHABLE),
      shares: Object.fromEntries(shares),
    });
  });

  it('give each caller its share by its weight, within 10 %, and its calls their turns in the order in which they came', () => {
    const shares = wholeWindows(byRequests);
    for (const [name, weight] of Object.entries(WEIGHTS)) {
      const fair = (REQUESTS * WHOLE_WINDOWS * weight) / WEIGHT_OF_ALL;
      expect(Math.abs((shares.get(name) ?? 0) - fair)).toBeLessThanOrEqual(0.1 * fair + AT_THE_EDGES);
    }
    expect(byRequests.filter(({ status }) => status !== 200)).toEqual([]);
    // A burst's own answers come in any order. A call whose send would have been too late is let in once more, behind the others.
    const firstAt = Math.min(...byRequests.map(({ sentAt }) => sentAt));
    const settled = byRequests.filter(({ sentAt }) => sentAt > firstAt + CYCLE_MS / 2);
    expect(overtaken(settled, CYCLE_MS / 2).length).toBeLessThanOrEqual(readmitted);
    recordFigures('quota-saturation', { readmitted });
  });

  it('keep within the tokens of a window, and use what their estimates fit in', () => {
    const { refused, windows, billed } = books.tokens;
    expect(refused).toEqual({ requests: 0, tokens: 0, concurrency: 0 });
    expect(windows[0]?.tokens.most).toBeLessThanOrEqual(TOKENS);
    const estimate = Math.ceil((billed.promptTokens / billed.replies) * 1.05) + 16 + MAX_TOKENS;
    expect(billed.replies).toBeGreaterThanOrEqual(sized(0.8, 0.9) * WHOLE_WINDOWS * Math.floor(TOKENS / estimate));
    recordFigures('quota-saturation', {
      tokens: { limit: TOKENS, most: windows[0]?.tokens.most, calls: billed.replies },
    });
  });

  it('row 24: have as many calls in flight as there are slots, and not one more', () => {
    const { refused, peakInFlight, admitted } = books.slots;
    expect(refused).toEqual({ requests: 0, tokens: 0, concurrency: 0 });
    expect(peakInFlight).toBe(SLOTS);
    recordFigures('quota-saturation', { slots: { slots: SLOTS, peakInFlight, calls: admitted } });
  });

  it('are refused by the provider, under the same load, where they are not told its limits', async () => {
    const callers = byWeight(AT_ONE_TIME);
    const calls = await loadFleet(fleet, { model: 'uncoordinated', callers }, AbortSignal.timeout(CYCLE_MS));
    const { refused, windows } = await fleet.books('uncoordinated');
    expect(refused.requests).toBeGreaterThan(0);
    recordFigures('quota-saturation', {
      uncoordinated: {
        upstream429s: refused.requests,
        mostInAWindow: windows[0]?.requests.most,
        failedCalls: calls.filter(({ status }) => status !== 200).length,
      },
    });
  });
});

/** What each caller got in whole windows: from the quiet time in the middle of the second to that of another. */
function wholeWindows(calls: readonly LoadedCall[]): ReadonlyMap<string, number> {
  const firstAt = Math.min(...calls.map(({ endedAt }) => endedAt));
  const from = firstAt + 1.5 * CYCLE_MS;
  return sharesOf(calls, from, from + WHOLE_WINDOWS * CYCLE_MS);
}

/** The callers of a load. */
function byWeight(atOneTime: number): readonly LoadedCaller[] {
  return Object.entries(WEIGHTS).map(([name, weight]) => ({
    name,
    lanes: Math.round((atOneTime * weight) / WEIGHT_OF_ALL),
  }));
}

function round(part: number): number {
  return Math.round(part * 1_000) / 1_000;
}
