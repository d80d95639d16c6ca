import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { Fleet } from '../../../../src/ai/fleet/index.js';
import { DEPLOYMENT, KEY, OTHER } from '../../../support/fleet-pods.js';
import { FakeFleet } from '../../../support/fake-fleet.js';

let fake: FakeFleet;
let fleet: Fleet;
beforeEach(async () => {
  fake = new FakeFleet();
  ({ fleet } = await fake.started());
});
afterEach(async () => {
  expect(await fake.end()).toBe(0);
});

describe('RateLimits', () => {
  const told = (remaining: number, { limit = 1_000, reset = '30s' } = {}): void => {
    fleet.limits.told(DEPLOYMENT, {
      'x-ratelimit-limit-requests': String(limit),
      'x-ratelimit-remaining-requests': String(remaining),
      'x-ratelimit-reset-requests': reset,
    });
  };

  it('say that so little is left that the deployment should be left before it refuses, until the reset', async () => {
    told(11);
    expect(fleet.isNearlyUsed(DEPLOYMENT)).toBe(false);
    told(10);
    expect(fleet.isNearlyUsed(DEPLOYMENT)).toBe(true);
    expect(fleet.isNearlyUsed(OTHER)).toBe(false);
    expect(fleet.limits.of(DEPLOYMENT)).toEqual([{ unit: 'requests', limit: 1_000, remaining: 10, resetMs: 30_000 }]);
    await fake.pass(30_000);
    expect(fleet.isNearlyUsed(DEPLOYMENT)).toBe(false);
    expect(fleet.limits.of(DEPLOYMENT)).toEqual([]);
  });

  it('leave one call of a small limit', () => {
    told(2, { limit: 3 });
    expect(fleet.isNearlyUsed(DEPLOYMENT)).toBe(false);
    told(1, { limit: 3 });
    expect(fleet.isNearlyUsed(DEPLOYMENT)).toBe(true);
  });

  it('say that the next call takes more than is left, each by what it counts', () => {
    const need = { requests: 1, promptTokens: 300, outputTokens: 200, costUsd: 0 };
    const tokens = (family: string, remaining: number): void => {
      fleet.limits.told(DEPLOYMENT, {
        [`anthropic-ratelimit-${family}-limit`]: '10000',
        [`anthropic-ratelimit-${family}-remaining`]: String(remaining),
        [`anthropic-ratelimit-${family}-reset`]: new Date(Date.now() + 30_000).toISOString(),
      });
    };
    for (const [family, enough] of [
      ['tokens', 500],
      ['input-tokens', 300],
      ['output-tokens', 200],
    ] as const) {
      tokens(family, enough);
      expect([family, fleet.isNearlyUsed(DEPLOYMENT, need)]).toEqual([family, false]);
      tokens(family, enough - 1);
      expect([family, fleet.isNearlyUsed(DEPLOYMENT, need)]).toEqual([family, true]);
      expect(fleet.isNearlyUsed(DEPLOYMENT)).toBe(false);
      jest.advanceTimersByTime(2_000);
      tokens(family, 10_000);
    }
  });

  it('count the calls that no answer has told of yet, each once', () => {
    const need = { requests: 1, promptTokens: 0, outputTokens: 0, costUsd: 0 };
    told(30, { limit: 100 });
    const calls = Array.from({ length: 28 }, () => fleet.limits.begun(DEPLOYMENT, need));
    expect(fleet.isNearlyUsed(DEPLOYMENT, need)).toBe(false);
    const last = fleet.limits.begun(DEPLOYMENT, need);
    expect(fleet.isNearlyUsed(DEPLOYMENT, need)).toBe(true);
    last();
    last();
    expect(fleet.isNearlyUsed(DEPLOYMENT, need)).toBe(false);
    fleet.limits.begun(DEPLOYMENT, need);
    expect(fleet.isNearlyUsed(DEPLOYMENT, need)).toBe(true);
    for (const over of calls) over();
    expect(fleet.isNearlyUsed(DEPLOYMENT, need)).toBe(false);
  });

  it('rank deployments by what is left of the limit that is used most', () => {
    expect(fleet.limits.shareLeft(DEPLOYMENT)).toBe(1);
    told(800);
    fleet.limits.told(DEPLOYMENT, {
      'anthropic-ratelimit-tokens-limit': '100',
      'anthropic-ratelimit-tokens-remaining': '25',
      'anthropic-ratelimit-tokens-reset': new Date(Date.now() + 5_000).toISOString(),
    });
    expect([fleet.limits.shareLeft(DEPLOYMENT), fleet.keys.shareLeft(KEY)]).toEqual([0.25, 1]);
    fleet.keys.checked(KEY, { tier: 'pro', remaining: 1_000 });
    fleet.keys.checked(KEY, { tier: 'pro', remaining: 100 });
    expect(fleet.keys.shareLeft(KEY)).toBe(0.1);
    expect(fleet.limits.shareLeft(OTHER)).toBe(1);
  });

  it('are nothing where an answer tells of none', () => {
    fleet.limits.told(DEPLOYMENT, {});
    expect(fleet.limits.of(DEPLOYMENT)).toEqual([]);
    expect(fleet.isNearlyUsed(DEPLOYMENT)).toBe(false);
  });
});

describe('KeyBook', () => {
  it('knows nothing of a key that nobody asked for, and lets it be used', () => {
    expect(fleet.keys.worthOf(KEY)).toBeUndefined();
    expect(fleet.keys.isNearlyUsed(KEY)).toBe(false);
    expect(fleet.keys.parkingOf(KEY)).toBeUndefined();
    fleet.keys.spent(KEY, { tokens: 5 });
    expect(fleet.keys.worthOf(KEY)).toBeUndefined();
  });

  it('counts down what is left between two checks, in the unit of the key', () => {
    fleet.keys.checked(KEY, { tier: 'pro', remaining: 3 });
    fleet.keys.spent(KEY, { requests: 1, tokens: 100, costUsd: 1 });
    expect(fleet.keys.worthOf(KEY)?.remaining).toBe(2);
    expect(fleet.isNearlyUsed(DEPLOYMENT)).toBe(false);
    fleet.keys.spent(KEY, { tokens: 100 });
    expect(fleet.keys.worthOf(KEY)?.remaining).toBe(2);
    fleet.keys.spent(KEY, { requests: 1 });
    expect(fleet.isNearlyUsed(DEPLOYMENT)).toBe(true);
    fleet.keys.checked(KEY, { tier: 'pro', remaining: 2, unit: 'usd' });
    fleet.keys.spent(KEY, { tokens: 100, costUsd: 0.25 });
    expect(fleet.keys.worthOf(KEY)).toEqual({ tier: 'pro', unit: 'usd', remaining: 1.75, isStale: false });
    fleet.keys.spent(KEY, { costUsd: 1.74 });
    expect(fleet.isNearlyUsed(DEPLOYMENT)).toBe(true);
    fleet.keys.checked(KEY, { tier: 'enterprise' });
    fleet.keys.spent(KEY, { tokens: 5 });
    expect(fleet.keys.worthOf(KEY)).toEqual({ tier: 'enterprise', unit: 'requests', isStale: false });
    expect(fleet.isNearlyUsed(DEPLOYMENT)).toBe(false);
  });

  it.each([
    ['requests', 2, { requests: 3 }],
    ['tokens', 500, { promptTokens: 400, outputTokens: 101 }],
    ['usd', 0.5, { costUsd: 0.500_001 }],
  ] as const)('says that the next call takes more %s than are left', (unit, remaining, more) => {
    const need = { requests: 0, promptTokens: 0, outputTokens: 0, costUsd: 0, ...more };
    fleet.keys.checked(KEY, { tier: 'pro', remaining, unit });
    expect([fleet.isNearlyUsed(DEPLOYMENT), fleet.isNearlyUsed(DEPLOYMENT, need)]).toEqual([false, true]);
    fleet.keys.checked(KEY, { tier: 'pro', remaining: 2 * remaining, unit });
    expect(fleet.isNearlyUsed(DEPLOYMENT, need)).toBe(false);
  });

  it('takes a key for a free one until a check was answered, and keeps the last word after that', () => {
    fleet.keys.unreachable(KEY);
    expect(fleet.keys.worthOf(KEY)).toEqual({ tier: 'free', unit: 'requests', remaining: 1_000, isStale: true });
    fleet.keys.checked(KEY, { tier: 'pro', remaining: 50 });
    fleet.keys.unreachable(KEY);
    expect(fleet.keys.worthOf(KEY)).toEqual({ tier: 'pro', unit: 'requests', remaining: 50, isStale: true });
  });

  it('parks a key until its time is over, or it is unparked on any pod', async () => {
    const other = await fake.started();
    fleet.keys.park(KEY, 'refused', 60_000);
    await fake.pass(0);
    expect(other.fleet.keys.parkingOf(KEY)).toEqual({ reason: 'refused', leftMs: 60_000 });
    other.fleet.keys.unpark(KEY);
    await fake.pass(0);
    expect(fleet.keys.parkingOf(KEY)).toBeUndefined();
    fleet.keys.park(KEY, 'quota', 5_000);
    await fake.pass(5_000);
    expect(fleet.keys.parkingOf(KEY)).toBeUndefined();
    await fake.pass(1_000);
    const twice = [`parked ${KEY} refused`, `unparked ${KEY}`, `parked ${KEY} quota`, `unparked ${KEY}`];
    expect(other.told).toEqual(twice);
  });
});
