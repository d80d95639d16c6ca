import { describe, expect, it } from '@jest/globals';
import type { ScopeLimits, TokenRule } from '../../../src/admission/admission.rules.js';
import { memoryBench } from '../../support/admission-bench.js';
import { overshoots } from '../../support/admission-judge.js';
import type { WorldCaller, WorldFaults, WorldPlan } from '../../support/admission-plan.js';
import { AdmissionWorld } from '../../support/admission-world.js';
import { sized } from '../../support/proof-scale.js';

const WINDOWS = sized(5, 60);
const WINDOW_MS = 2_000;
const TIMEOUT_MS = sized(120_000, 1_800_000);

const caller = (flow: string, weight: number, rest: Partial<WorldCaller> = {}): WorldCaller => ({
  ...{ flow, weight, calls: 25, durationMs: [50, 1_500], waitMs: [6_000, 12_000] },
  ...rest,
});
const CALLERS = [caller('heavy', 1), caller('mid', 2), caller('gold', 4), caller('light', 1, { calls: 1 })];
const FAULTS: WorldFaults = { lost: 0.1, left: 0.1, killed: 0.1, repeated: 0.1, overrun: 0 };

async function live(limits: ScopeLimits, rest: Partial<WorldPlan> = {}): Promise<AdmissionWorld> {
  const plan = { seed: 1, callers: CALLERS, forMs: (WINDOWS + 2) * WINDOW_MS, ...rest, limits };
  return new AdmissionWorld(await memoryBench(), plan).run();
}

/** How much of each flow began after the first two windows. */
function sharesOf(world: AdmissionWorld, sizeOf: (call: AdmissionWorld['books']['calls'][number]) => number) {
  const began = Math.min(...world.books.calls.map(({ arrivedAt }) => arrivedAt));
  const shares = new Map<string, number>();
  for (const call of world.books.calls) {
    const at = call.arrivedAt - began;
    if (at < 2 * WINDOW_MS || at >= (WINDOWS + 2) * WINDOW_MS) continue;
    shares.set(call.flow, (shares.get(call.flow) ?? 0) + sizeOf(call));
  }
  return shares;
}

const window = { windowMs: WINDOW_MS, guardMs: 20 };
const tokenRules: readonly TokenRule[] = ['safe', 'adm', 'cmp', 'own'];
const LIMITS: readonly (readonly [string, ScopeLimits])[] = [
  ['requests', { windows: [{ ...window, requests: 40 }] }],
  ['requests at a pace', { windows: [{ ...window, requests: 40, burst: 0.1 }] }],
  [
    'two windows',
    {
      windows: [
        { windowMs: 10_000, requests: 120, guardMs: 20 },
        { windowMs: 500, requests: 12, guardMs: 20 },
      ],
    },
  ],
  ['slots', { concurrency: 7 }],
  ['all at once', { windows: [{ ...window, requests: 30, tokens: 4_000 }], concurrency: 9 }],
  ...tokenRules.map(
    (tokenRule) => [`tokens, ${tokenRule}`, { windows: [{ ...window, tokens: 5_000 }], tokenRule }] as const,
  ),
];

describe.each(LIMITS)('a fleet inside its limits: %s', (_, limits) => {
  it.each([
    ['without faults', undefined],
    ['with faults', FAULTS],
  ] as const)(
    'shows the upstream no overshoot and leaves nothing behind, %s',
    async (_name, faults) => {
      const world = await live(limits, faults && { faults });
      expect(overshoots(world.books.calls, limits)).toEqual([]);
      expect(world.books.calls.length).toBeGreaterThan(50);
      const { open, queued, reserved, windows } = await world.state();
      expect({ open, queued, reserved }).toEqual({ open: 0, queued: 0, reserved: { microUsd: 0, tokens: 0 } });
      expect(windows.map(({ requests, tokens }) => [requests, tokens])).toEqual(windows.map(() => [0, 0]));
    },
    TIMEOUT_MS,
  );
});

describe('a fleet under saturation', () => {
  it(
    'uses at least 98 % of its requests and shares them by weight',
    async () => {
      const world = await live({ windows: [{ ...window, requests: 60 }] });
      const shares = sharesOf(world, () => 1);
      const used = [...shares.values()].reduce((sum, share) => sum + share, 0);
      expect(used / (60 * WINDOWS)).toBeGreaterThanOrEqual(0.98);
      expectByWeight(shares);
    },
    TIMEOUT_MS,
  );

  it(
    'shares tokens by weight',
    async () => {
      const world = await live({ windows: [{ ...window, tokens: 12_000 }] });
      expectByWeight(sharesOf(world, ({ estimated }) => estimated));
    },
    TIMEOUT_MS,
  );

  it(
    'shares slots by weight although calls last very differently',
    async () => {
      const callers = [
        caller('heavy', 1, { durationMs: [600, 1_200] }),
        caller('mid', 2, { durationMs: [50, 100] }),
        caller('gold', 4, { durationMs: [50, 800] }),
      ];
      const world = await live({ concurrency: 20 }, { callers });
      expectByWeight(sharesOf(world, ({ arrivedAt, endedAt }) => endedAt - arrivedAt));
    },
    TIMEOUT_MS,
  );
});

/** Within 10 %, among those that always have more to send. */
function expectByWeight(shares: ReadonlyMap<string, number>): void {
  const weights = new Map([
    ['heavy', 1],
    ['mid', 2],
    ['gold', 4],
  ]);
  const sum = [...weights.keys()].reduce((all, flow) => all + (shares.get(flow) ?? 0), 0);
  for (const [flow, weight] of weights) {
    const share = (shares.get(flow) ?? 0) / sum / (weight / 7);
    expect([flow, Math.abs(share - 1) <= 0.1 ? 'its share' : share]).toEqual([flow, 'its share']);
  }
}

describe('the judge', () => {
  it('sees calls that arrive later than the guard allows for', async () => {
    const limits = { windows: [{ ...window, requests: 20 }] };
    const world = await live(limits, { lateMs: 200 });
    expect(overshoots(world.books.calls, limits)).toHaveLength(1);
  });

  it.each(LIMITS.filter(([name]) => !name.includes('own')))(
    'sees limits that are lower than those kept: %s',
    async (_, limits) => {
      const { windows = [], concurrency = 40, ...rest } = limits;
      const lower = windows.map(({ requests = 40, tokens = 40_000, ...each }) => ({
        ...each,
        requests: requests - 2,
        tokens: 0.8 * tokens,
      }));
      const world = await live(limits);
      expect(overshoots(world.books.calls, { ...rest, windows: lower, concurrency: concurrency - 1 })).not.toEqual([]);
    },
  );
});

describe('a budget', () => {
  const limits: ScopeLimits = { budgets: [{ unit: 'usd', period: 'day', limit: 40_000 }], concurrency: 5 };

  it(
    'is never exceeded by what is spent and reserved, and the bills are what is spent',
    async () => {
      const world = await live(limits, { faults: { ...FAULTS, killed: 0 } });
      expect(world.books.mostSpent).toBeLessThanOrEqual(40_000);
      const { budgets } = await world.state();
      expect(budgets[0]?.spent).toBe(world.books.billed);
      expect(world.books.billed).toBeGreaterThan(30_000);
    },
    TIMEOUT_MS,
  );

  it(
    'books bills above their reservations in full, and the dead as they were estimated',
    async () => {
      const world = await live(limits, { faults: { ...FAULTS, overrun: 0.3 } });
      const { budgets, reserved } = await world.state();
      expect(reserved.microUsd).toBe(0);
      expect(budgets[0]?.spent).toBeGreaterThanOrEqual(world.books.billed);
    },
    TIMEOUT_MS,
  );
});
