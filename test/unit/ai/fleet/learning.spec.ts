import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { Fleet } from '../../../../src/ai/fleet/index.js';
import { ENOUGH_SAMPLES } from '../../../../src/ai/fleet/parts/latencies.js';
import { MODEL } from '../../../support/fleet-pods.js';
import { FakeFleet } from '../../../support/fake-fleet.js';
import { SeededRandom } from '../../../simulation/seeded.random.js';

let fake: FakeFleet;
let fleet: Fleet;
beforeEach(async () => {
  fake = new FakeFleet();
  ({ fleet } = await fake.started());
});
afterEach(async () => {
  expect(await fake.end()).toBe(0);
});

const times = (count: number, work: () => void): void => {
  for (let time = 0; time < count; time += 1) work();
};

describe('Latencies', () => {
  const streamed = (count: number, ms: number): void => {
    times(count, () => {
      fleet.latencies.streamed(MODEL, ms);
    });
  };
  const timedOut = (count: number, ms: number): void => {
    times(count, () => {
      fleet.latencies.timedOut(MODEL, 'stream', ms);
    });
  };

  it('wait as long as the model says until there are enough samples', () => {
    streamed(ENOUGH_SAMPLES - 1, 4_000);
    expect(fleet.latencies.firstTokenLimitMs(MODEL)).toBe(20_000);
    expect(fleet.latencies.of(MODEL)).toEqual({ firstTokenLimitMs: 20_000 });
    streamed(1, 4_000);
    expect(fleet.latencies.firstTokenLimitMs(MODEL)).toBe(10_000);
    expect(fleet.latencies.of(MODEL)).toEqual({ firstTokenLimitMs: 10_000, meanFirstTokenMs: 4_000 });
  });

  it('wait 2.5 means of the last hundred, at least 5 s', () => {
    streamed(100, 9_000);
    streamed(100, 300);
    expect(fleet.latencies.firstTokenLimitMs(MODEL)).toBe(5_000);
    streamed(50, 7_700);
    expect(fleet.latencies.firstTokenLimitMs(MODEL)).toBe(10_000);
  });

  it('never close in on themselves: what is given up moves the limit up', () => {
    streamed(100, 2_000);
    const limits: number[] = [];
    // The model has become slower than any limit: every call is given up at the limit of the moment.
    times(100, () => {
      const limit = fleet.latencies.firstTokenLimitMs(MODEL);
      limits.push(limit);
      timedOut(1, limit);
    });
    expect(limits).toEqual(limits.toSorted((one, other) => one - other));
    expect(fleet.latencies.firstTokenLimitMs(MODEL)).toBe(120_000);
    streamed(100, 1_000);
    expect(fleet.latencies.firstTokenLimitMs(MODEL)).toBe(5_000);
  });

  it('find the limit again that a model needs that has become slower, however the calls are mixed', () => {
    fc.assert(
      fc.property(fc.integer({ min: 3_000, max: 40_000 }), fc.integer(), (mean, seed) => {
        const random = new SeededRandom(seed);
        streamed(100, 1_000);
        const outcomes = Array.from({ length: 600 }, () => {
          const ms = mean * (0.5 + random.next());
          const limit = fleet.latencies.firstTokenLimitMs(MODEL);
          if (ms <= limit) streamed(1, ms);
          else timedOut(1, limit);
          return ms <= limit;
        });
        // In the end hardly anything is given up.
        expect(outcomes.slice(-100).filter(Boolean).length).toBeGreaterThan(95);
        expect(fleet.latencies.firstTokenLimitMs(MODEL)).toBeLessThan(mean * 4 + 5_000);
      }),
      { numRuns: 20 },
    );
  });

  it('give a whole answer a first token, and then its tokens at the learned rate', () => {
    expect(fleet.latencies.answerLimitMs(MODEL, 1_000)).toBe(20_000 + 50_000);
    streamed(100, 4_000);
    times(100, () => {
      fleet.latencies.answered(MODEL, 5_000, 500);
    });
    expect(fleet.latencies.answerLimitMs(MODEL, 1_000)).toBe(10_000 + 10_000);
    expect(fleet.latencies.of(MODEL)).toMatchObject({ tokensPerSecond: 100 });
    times(50, () => {
      fleet.latencies.timedOut(MODEL, 'json', 15_000);
    });
    // 50 answers of 5 s and 50 times 15 s for nothing.
    expect(fleet.latencies.answerLimitMs(MODEL, 1_000)).toBe(10_000 + 40_000);
  });

  it('take no nonsense', () => {
    times(20, () => {
      fleet.latencies.streamed(MODEL, Number.NaN);
      fleet.latencies.answered(MODEL, -5, Number.POSITIVE_INFINITY);
    });
    expect(fleet.latencies.of(MODEL)).toEqual({ firstTokenLimitMs: 5_000, meanFirstTokenMs: 1 });
  });
});

describe('TokenRatios', () => {
  it('are 1 until something is known, and then near the upper end of what is seen', () => {
    expect(fleet.tokens.of(MODEL)).toBe(1);
    const ratios = Array.from({ length: 1_000 }, (_, index) => 1 + ((index * 7) % 100) / 100);
    for (const ratio of ratios) fleet.tokens.counted(MODEL, { ours: 1_000, providers: 1_000 * ratio });
    const share = ratios.filter((ratio) => ratio <= fleet.tokens.of(MODEL)).length / ratios.length;
    expect(share).toBeGreaterThan(0.65);
    expect(share).toBeLessThan(0.95);
  });

  it('stay between 0.5 and 3, whatever comes', () => {
    fc.assert(
      fc.property(fc.double(), fc.double(), (ours, providers) => {
        fleet.tokens.counted(MODEL, { ours, providers });
        expect(fleet.tokens.of(MODEL)).toBeGreaterThanOrEqual(0.5);
        expect(fleet.tokens.of(MODEL)).toBeLessThanOrEqual(3);
      }),
    );
  });
});
