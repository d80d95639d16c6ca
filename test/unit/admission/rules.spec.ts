import { describe, expect, it } from '@jest/globals';
import {
  AdmissionRulesError,
  CALENDAR_BUCKETS,
  isUnlimited,
  type ScopeLimits,
  scopeRules,
  sendWithinMs,
} from '../../../src/admission/admission.rules.js';
import { periodEnd, periodOf } from '../../../src/admission/budget.period.js';

describe('scopeRules()', () => {
  it('fills in what is safe: every provider, a guard of 300 ms, no pace', () => {
    expect(scopeRules({ windows: [{ windowMs: 60_000, requests: 10 }] })).toMatchObject({
      tokenRule: 'safe',
      concurrency: undefined,
      budgets: [],
      lookAheadMs: 200,
      windows: [{ requests: 10, tokens: undefined, guardMs: 300, spanMs: 60_300, burstMs: 60_000 }],
    });
  });

  it.each([100, 1_000, 2_000, 60_000, 3_600_000, 86_400_000])(
    'scales buckets and look-ahead to windows of %d ms',
    (windowMs) => {
      const { windows, lookAheadMs } = scopeRules({ windows: [{ windowMs, requests: 1 }] });
      const [{ spanMs, bucketMs } = { spanMs: 0, bucketMs: 0 }] = windows;
      expect(lookAheadMs).toBeLessThanOrEqual(windowMs / 10);
      expect((spanMs + lookAheadMs) / bucketMs).toBeLessThanOrEqual(CALENDAR_BUCKETS);
      expect(bucketMs).toBeLessThanOrEqual(Math.max(1, spanMs / 400));
    },
  );

  it.each<[string, ScopeLimits, string]>([
    ['no requests', { windows: [{ windowMs: 1_000, requests: 0 }] }, 'requests'],
    ['half a token', { windows: [{ windowMs: 1_000, tokens: 0.5 }] }, 'tokens'],
    ['more than a calendar holds', { windows: [{ windowMs: 1_000, tokens: 2_000_000_000 }] }, 'tokens'],
    ['no window', { windows: [{ windowMs: 0, requests: 1 }] }, 'windowMs'],
    ['a guard that is no number', { windows: [{ windowMs: 1_000, guardMs: Number.NaN }] }, 'guardMs'],
    ['no burst', { windows: [{ windowMs: 1_000, burst: 0 }] }, 'burst'],
    ['more than all at once', { windows: [{ windowMs: 1_000, burst: 1.1 }] }, 'burst'],
    ['no slots', { concurrency: 0 }, 'concurrency'],
    ['a debt', { budgets: [{ unit: 'usd', period: 'day', limit: -1 }] }, 'budget in usd by the day'],
    ['two windows of one length', { windows: [{ windowMs: 1_000 }, { windowMs: 1_000 }] }, 'same window: 1000'],
    [
      'two budgets for one period',
      { budgets: ['a', 'b'].map(() => ({ unit: 'tokens', period: 'month', limit: 1 }) as const) },
      'same budget: tokens by the month',
    ],
  ])('refuses %s', (_, limits, message) => {
    expect(() => scopeRules(limits)).toThrow(AdmissionRulesError);
    expect(() => scopeRules(limits)).toThrow(message);
  });

  it('needs no store where nothing is limited', () => {
    expect(isUnlimited(scopeRules({}))).toBe(true);
    expect(isUnlimited(scopeRules({ windows: [{ windowMs: 1_000 }] }))).toBe(true);
    for (const limits of [{ concurrency: 1 }, { windows: [{ windowMs: 1_000, tokens: 1 }] }] satisfies ScopeLimits[]) {
      expect(isUnlimited(scopeRules(limits))).toBe(false);
    }
    expect(isUnlimited(scopeRules({ budgets: [{ unit: 'usd', period: 'day', limit: 0 }] }))).toBe(false);
  });

  it('leaves half of the shortest guard for the way to the upstream', () => {
    const windows = [{ windowMs: 60_000 }, { windowMs: 1_000, guardMs: 50 }];
    expect(sendWithinMs(scopeRules({ windows }))).toBe(25);
    expect(sendWithinMs(scopeRules({}))).toBe(Infinity);
  });
});

describe('the periods of budgets', () => {
  it.each([
    ['2028-02-29T23:59:59.999Z', '2028-03-01T00:00:00.000Z', '2028-03-01T00:00:00.000Z'],
    ['2027-12-31T00:00:00.000Z', '2028-01-01T00:00:00.000Z', '2028-01-01T00:00:00.000Z'],
    ['2027-06-01T12:00:00.000Z', '2027-06-02T00:00:00.000Z', '2027-07-01T00:00:00.000Z'],
  ])('that hold %s end with their day and month', (at, day, month) => {
    const ms = Date.parse(at);
    expect(new Date(periodEnd('day', ms)).toISOString()).toBe(day);
    expect(new Date(periodEnd('month', ms)).toISOString()).toBe(month);
    for (const period of ['day', 'month'] as const) {
      expect(periodOf(period, periodEnd(period, ms))).toBe(periodOf(period, ms) + 1);
      expect(periodOf(period, periodEnd(period, ms) - 1)).toBe(periodOf(period, ms));
    }
  });
});
