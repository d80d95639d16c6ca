import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { KeyService } from '../../../src/ai/keys/key.service.js';
import { at, FIVE_MINUTES, KeyRig, large, small } from '../../support/key-rig.js';

const FREE = { tier: 'free', unit: 'requests', remaining: 1_000, isStale: true };

describe('KeyService, of what a key is worth,', () => {
  let rig: KeyRig;
  let keys: KeyService;

  beforeEach(() => {
    rig = new KeyRig();
  });
  afterEach(() => rig.close());

  it('takes a key for a free one once its provider has been silent for two seconds, and at its word when that comes', async () => {
    const answer = rig.late('key-1');
    keys = await rig.start();
    // A newcomer's first calls do not wait for it.
    expect(keys.isWorth(at('one#1', large), large)).toBe(true);
    await rig.settle(2_000);
    expect([keys.isWorth(at('one#1'), small), keys.isWorth(at('one#1', large), large)]).toEqual([true, false]);
    expect(rig.fleet.keys.worthOf('one#1')).toEqual(FREE);
    expect(keys.isWorth(at('one#2', large), large)).toBe(true);
    expect(keys.isWorth(at('two'), large)).toBe(true);
    answer({ status: 200, body: { tier: 'enterprise' } });
    await rig.settle();
    expect(keys.isWorth(at('one#1', large), large)).toBe(true);
  });

  it('keeps the last word while a later check is late', async () => {
    keys = await rig.start();
    const answer = rig.late('key-1');
    await rig.settle(FIVE_MINUTES + 5_000);
    expect(keys.isWorth(at('one#1', large), large)).toBe(true);
    answer({ status: 500 });
    await rig.settle();
    expect(keys.isWorth(at('one#1', large), large)).toBe(true);
  });

  it('leaves a key unrestricted whose provider has no such path', async () => {
    rig.answers['key-1'] = { status: 404 };
    keys = await rig.start();
    await rig.settle(5_000);
    expect(keys.isWorth(at('one#1', large), large)).toBe(true);
  });

  it.each([
    ['less than nothing', { remaining: -5 }, { unit: 'requests', remaining: 0 }],
    ['half a request', { remaining: 7.5 }, { unit: 'requests', remaining: 8 }],
    ['more than can be counted', { remaining: 1e300 }, { unit: 'requests', remaining: Number.MAX_SAFE_INTEGER }],
    ['dollars', { remaining: 1.25, remainingUnit: 'usd' }, { unit: 'usd', remaining: 1.25 }],
    ['a unit that nobody knows', { remaining: 5, remainingUnit: 'credits' }, { unit: 'requests' }],
    ['a unit that is no word', { remaining: 5, remainingUnit: 7 }, { unit: 'requests' }],
    ['text', { remaining: '5' }, { unit: 'requests' }],
    ['nothing', { remaining: null }, { unit: 'requests' }],
  ])('understands %s as what is left: %j', async (_, body, worth) => {
    rig.answers['key-1'] = { status: 200, body: { tier: 'pro', ...body } };
    keys = await rig.start();
    expect(rig.fleet.keys.worthOf('one#1')).toEqual({ tier: 'pro', isStale: false, ...worth });
    const need = { requests: 1, promptTokens: 0, outputTokens: 0, costUsd: 0 };
    expect(keys.isNearlyUsed(at('one#1'), need)).toBe(body.remaining === -5);
  });
});
