import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { byQuotaLeft, type KeyTurn } from '../../../src/ai/keys/key.order.js';
import { sized } from '../../support/proof-scale.js';

type Named = KeyTurn & { readonly name: string };

const key = (name: string, remaining?: number, more: Partial<KeyTurn> = {}): Named => ({
  name,
  limitShare: 1,
  quotaShare: 1,
  turn: 0,
  worth: remaining === undefined ? undefined : { tier: 'pro', unit: 'requests', remaining, isStale: false },
  ...more,
});
const namesOf = (keys: readonly Named[]): readonly string[] => byQuotaLeft(keys).map(({ name }) => name);

describe('byQuotaLeft()', () => {
  it('puts the key with the most left first, however little more it is, but for 1 %', () => {
    expect(namesOf([key('a', 970), key('b', 1_000)])).toEqual(['b', 'a']);
    expect(namesOf([key('a', 500), key('b', 1_000), key('c', 700)])).toEqual(['b', 'c', 'a']);
    expect(namesOf([key('a', 995, { turn: 1 }), key('b', 1_000, { turn: 2 })])).toEqual(['a', 'b']);
  });

  it('looks at numbers, not at what each had once', () => {
    const [half, full] = [key('half', 500, { quotaShare: 0.5 }), key('full', 400)];
    expect(namesOf([full, half])).toEqual(['half', 'full']);
  });

  it('compares shares where the units differ, or somebody was told nothing', () => {
    const money = key('money', 2, {
      quotaShare: 0.5,
      worth: { tier: 'pro', unit: 'usd', remaining: 2, isStale: false },
    });
    expect(namesOf([money, key('requests', 900, { quotaShare: 0.9 })])).toEqual(['requests', 'money']);
    expect(namesOf([key('told', 900, { quotaShare: 0.9 }), key('untold')])).toEqual(['untold', 'told']);
  });

  it('passes a key over that is near its rate limit, whatever it has bought', () => {
    expect(namesOf([key('rich', 1_000, { limitShare: 0.1 }), key('poor', 500)])).toEqual(['poor', 'rich']);
  });

  it('takes equals in turn, and those with nothing left too', () => {
    const turns = [key('a', 0, { turn: 3 }), key('b', 0, { turn: 1 }), key('c', 0, { turn: 2 })];
    expect(namesOf(turns)).toEqual(['b', 'c', 'a']);
  });

  it('uses keys up together: none is empty while another one has more than it had', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 500 }), { minLength: 2, maxLength: 5 }), (quotas) => {
        const left = [...quotas];
        const turns = quotas.map(() => 0);
        const total = quotas.reduce((sum, quota) => sum + quota, 0);
        for (let call = 1; call <= total; call += 1) {
          const cards = left.map((remaining, index) => key(String(index), remaining, { turn: turns[index] ?? 0 }));
          const first = Number(namesOf(cards)[0]);
          const most = Math.max(...left);
          // Never one that has less than the margin allows.
          expect(left[first] ?? 0).toBeGreaterThanOrEqual(most * 0.99);
          left[first] = (left[first] ?? 0) - 1;
          turns[first] = call;
        }
        expect(Math.max(...left)).toBe(0);
      }),
      { numRuns: sized(20, 1_000) },
    );
  });
});
