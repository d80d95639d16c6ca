import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import fc from 'fast-check';
import type { WindowLimit } from '../../../src/admission/index.js';
import { type JudgedCall, mostInWindow } from '../../support/admission-judge.js';
import { type OutageLoad, type OutagePlan, type OutageRun, runOutage } from '../../support/admission-outage-run.js';
import { sized } from '../../support/proof-scale.js';
import { VirtualTime } from '../../support/test-time.js';

jest.setTimeout(sized(60_000, 600_000));

const WINDOW_MS = 6_000;
const GUARD_MS = 300;
const FOR_MS = 26_000;
/** The most tokens that a call of these runs may take. */
const LARGEST = 80;
const RUNS = { seed: 31, numRuns: sized(5, 300) };

const time = new VirtualTime();

beforeEach(() => {
  time.begin();
});
afterEach(() => {
  time.end();
});

const durations = fc.tuple(fc.integer({ min: 20, max: 200 }), fc.integer({ min: 200, max: 3_000 }));
const loads: fc.Arbitrary<OutageLoad> = fc.record({
  pod: fc.nat(3),
  lanes: fc.integer({ min: 1, max: 25 }),
  from: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 14_000 })),
  forMs: fc.integer({ min: 2_000, max: FOR_MS }),
  lastsMs: durations,
});
const plans: fc.Arbitrary<OutagePlan> = fc
  .record({
    seed: fc.nat(),
    pods: fc.integer({ min: 2, max: 4 }),
    requests: fc.integer({ min: 12, max: 90 }),
    hasTokens: fc.boolean(),
    tokenRule: fc.constantFrom('safe', 'adm', 'cmp'),
    loads: fc.array(loads, { minLength: 2, maxLength: 5 }),
    downAt: fc.integer({ min: 2_000, max: 12_000 }),
    downMs: fc.integer({ min: 300, max: 14_000 }),
    isSilent: fc.boolean(),
    isLost: fc.boolean(),
    forMs: fc.constant(FOR_MS),
  })
  .map(({ requests, hasTokens, tokenRule, ...plan }) => {
    const tokens = hasTokens ? 25 * requests : undefined;
    return { ...plan, limits: { windows: [{ windowMs: WINDOW_MS, requests, tokens }], tokenRule } };
  });

/** What a provider judges by: of each call the moments and how much it counts then. */
const REQUESTS = ({ arrivedAt }: JudgedCall) => [[arrivedAt, 1]] as const;
const ESTIMATED = ({ arrivedAt, estimated }: JudgedCall) => [[arrivedAt, estimated]] as const;
const ACTUAL = ({ endedAt, actual }: JudgedCall) => [[endedAt, actual]] as const;

/** What no window may have more of, by each way to judge, with what the pods may take for which nobody has vouched. */
function bounds({ pods, limits: { windows, tokenRule } }: OutagePlan) {
  const [{ requests = 0, tokens = Infinity }] = windows as [WindowLimit];
  const spare = (limit: number, call: number): number => limit + pods * Math.max(call, Math.floor(limit / pods / 10));
  return {
    requests: spare(requests, 1),
    estimated: tokenRule === 'cmp' ? Infinity : spare(tokens, LARGEST),
    actual: tokenRule === 'adm' ? Infinity : spare(tokens, LARGEST),
  };
}

/** What is judged: a store that has lost what it knew within a window of it has forgotten calls, and is another matter. */
function judged({ calls, backAt }: OutageRun, { isLost, downMs }: OutagePlan): readonly JudgedCall[] {
  const isForgetful = isLost && downMs < WINDOW_MS + GUARD_MS;
  return isForgetful ? calls.filter(({ endedAt }) => endedAt <= backAt) : calls;
}

function most(calls: readonly JudgedCall[], by: (call: JudgedCall) => readonly (readonly [number, number])[]): number {
  return mostInWindow(calls.flatMap(by), WINDOW_MS);
}

describe('AdmissionService, when its store goes away and comes back at any moment', () => {
  it('lets into no window more than the limit and what its pods may take unasked', async () => {
    const check = async (plan: OutagePlan): Promise<void> => {
      const calls = judged(await runOutage(plan), plan);
      const bound = bounds(plan);
      expect(most(calls, REQUESTS)).toBeLessThanOrEqual(bound.requests);
      expect(most(calls, ESTIMATED)).toBeLessThanOrEqual(bound.estimated);
      expect(most(calls, ACTUAL)).toBeLessThanOrEqual(bound.actual);
    };
    await fc.assert(fc.asyncProperty(plans, check), RUNS);
  });

  it('lets into no window more than the limit where each pod has heard of it lately, and uses it', async () => {
    const busy = (pod: number, lanes: number): OutageLoad => ({
      ...{ pod, lanes, from: 0, forMs: FOR_MS, lastsMs: [20, 400] },
    });
    const check = async (plan: OutagePlan, lanes: readonly number[]): Promise<void> => {
      const downMs = Math.max(plan.downMs, plan.isLost ? WINDOW_MS + GUARD_MS : 0);
      const { limits } = plan;
      const saturated = { ...plan, downMs, loads: lanes.slice(0, plan.pods).map((count, pod) => busy(pod, count)) };
      const { calls, downAt, backAt } = await runOutage(saturated);
      const [{ requests = 0 }] = limits.windows as [WindowLimit];
      expect(most(calls, REQUESTS)).toBeLessThanOrEqual(requests);
      const isWithin = ({ arrivedAt }: JudgedCall): boolean => arrivedAt > downAt + WINDOW_MS && arrivedAt < backAt;
      const forMs = Math.max(0, backAt - downAt - WINDOW_MS - 3_000);
      const part = plan.pods * Math.floor(requests / plan.pods);
      expect(calls.filter(isWithin).length).toBeGreaterThanOrEqual(Math.floor((0.5 * part * forMs) / WINDOW_MS));
    };
    const lanes = fc.tuple(...Array.from({ length: 4 }, () => fc.integer({ min: 4, max: sized(8, 25) })));
    const requestsOnly = plans.filter(({ limits }) => limits.windows?.[0]?.tokens === undefined);
    await fc.assert(fc.asyncProperty(requestsOnly, lanes, check), RUNS);
  });
});
