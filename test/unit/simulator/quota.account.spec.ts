import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { QuotaAccount, type Verdict } from '../../../src/simulator/quota/quota.account.js';
import type { CallEnd } from '../../../src/simulator/quota/quota.books.js';
import { parseLimits } from '../../../src/simulator/quota/quota.limits.js';
import { sized } from '../../support/proof-scale.js';

const account = (limits: string): QuotaAccount => new QuotaAccount(parseLimits(limits));
const asks = (promptTokens: number, outputTokens?: number) => ({ promptTokens, outputTokens });

function answered(promptTokens: number, completionTokens: number): CallEnd {
  return { outcome: 'answered', bill: { promptTokens, cachedTokens: 0, completionTokens } };
}

/** Lets it in and ends it. @throws {Error} where it is refused */
function complete(one: QuotaAccount, verdict: Verdict, now: number, end: CallEnd): void {
  if (verdict.call === undefined) throw new Error(`refused: ${JSON.stringify(verdict.refusal)}`);
  one.settle(verdict.call, now, end);
}

describe('QuotaAccount, requests', () => {
  const arrivals = fc.array(
    fc.oneof(
      fc.nat(15).map((gap) => ({ gap })),
      // Exactly when the last refusal said, or a millisecond before.
      fc.constantFrom({ after: 0 }, { after: -1 }),
    ),
    { maxLength: 120 },
  );
  const countSince = (moments: readonly number[], now: number, windowMs: number): number =>
    moments.filter((moment) => now - moment < windowMs).length;

  it('lets in exactly what fits every window, and says exactly how long to wait', () => {
    fc.assert(
      fc.property(arrivals, fc.integer({ min: 1, max: 4 }), fc.integer({ min: 1, max: 6 }), (taken, short, long) => {
        const one = account(`requests=${short}/20ms,requests=${long}/100ms`);
        const admitted: number[] = [];
        let now = 0;
        let waitMs = 1;
        for (const step of taken) {
          now += 'gap' in step ? step.gap : Math.max(0, waitMs + step.after);
          const fits = countSince(admitted, now, 20) < short && countSince(admitted, now, 100) < long;
          const { call, refusal } = one.admit(now, asks(1));
          expect(call !== undefined).toBe(fits);
          if (call !== undefined) admitted.push(now);
          waitMs = refusal?.waitMs ?? 1;
          if (refusal === undefined) continue;
          const later = (ms: number): boolean =>
            countSince(admitted, now + ms, 20) < short && countSince(admitted, now + ms, 100) < long;
          expect([later(waitMs), later(waitMs - 1)]).toEqual([true, false]);
        }
        const most = (windowMs: number): number =>
          Math.max(
            0,
            ...admitted.map((moment) =>
              countSince(
                admitted.filter((each) => each <= moment),
                moment,
                windowMs,
              ),
            ),
          );
        expect(one.toJson()).toMatchObject({
          seen: taken.length,
          admitted: admitted.length,
          windows: [{ requests: { most: most(20) } }, { requests: { most: most(100) } }],
        });
        expect(most(20)).toBeLessThanOrEqual(short);
        expect(most(100)).toBeLessThanOrEqual(long);
      }),
      { numRuns: sized(200, 10_000) },
    );
  });

  it('charges a refused request nothing, and counts it', () => {
    const one = account('rpm=1,tpm=100');
    one.admit(0, asks(10, 10));
    for (let now = 1; now < 10; now += 1) expect(one.admit(now, asks(10, 10)).refusal?.kind).toBe('requests');
    expect(one.toJson()).toMatchObject({
      seen: 10,
      admitted: 1,
      refused: { requests: 9, tokens: 0, concurrency: 0 },
      inFlight: 1,
      windows: [{ requests: { limit: 1, used: 1, most: 1 }, tokens: { limit: 100, used: 20, most: 20 } }],
    });
  });

  it('keeps the entry of a request that failed', () => {
    const one = account('rpm=1');
    complete(one, one.admit(0, asks(1)), 5, { outcome: 'aborted', bill: undefined });
    expect(one.admit(59_999, asks(1)).refusal).toMatchObject({ kind: 'requests', waitMs: 1 });
    expect(one.admit(60_000, asks(1)).refusal).toBeUndefined();
  });
});

describe('QuotaAccount, tokens', () => {
  it('adm: counts prompt and max_tokens for one window from admission, whatever is used', () => {
    const one = account('tpm=100,rule=adm');
    complete(one, one.admit(0, asks(20, 40)), 1_000, answered(20, 1));
    expect(one.admit(2_000, asks(1, 40)).refusal).toEqual({
      kind: 'tokens',
      window: { windowMs: 60_000, tokens: 100 },
      limit: 100,
      used: 60,
      requested: 41,
      waitMs: 58_000,
    });
    expect(one.admit(2_000, asks(0, 40)).refusal).toBeUndefined();
    expect(one.toJson()).toMatchObject({ windows: [{ tokens: { used: 100, most: 100 } }] });
  });

  it('cmp: counts what was used for one window from completion, and lets in until the limit is used', () => {
    const one = account('tpm=100,rule=cmp');
    const first = one.admit(0, asks(20, 500));
    const second = one.admit(0, asks(20, 500));
    expect(one.toJson()).toMatchObject({ windows: [{ tokens: { used: 0 } }] });
    complete(one, first, 90_000, answered(20, 79));
    const third = one.admit(90_000, asks(20, 500));
    complete(one, second, 100_000, answered(20, 30));
    expect(one.admit(100_000, asks(1, 1)).refusal).toMatchObject({ used: 149, requested: 1, waitMs: 50_000 });
    complete(one, third, 150_000, { outcome: 'aborted', bill: undefined });
    expect(one.admit(150_000, asks(1, 1)).refusal).toBeUndefined();
    expect(one.toJson()).toMatchObject({ windows: [{ tokens: { used: 50, most: 149 } }] });
  });

  it('safe: counts the larger of both, and the estimate for as long as the call runs', () => {
    const one = account('tpm=100,rule=safe');
    const long = one.admit(0, asks(20, 60));
    expect(one.admit(59_000, asks(20, 1)).refusal).toMatchObject({ used: 80, waitMs: 1_000 });
    // Nobody knows when it ends.
    expect(one.admit(70_000, asks(20, 1)).refusal).toMatchObject({ used: 80, waitMs: 1_000 });
    complete(one, long, 80_000, answered(20, 30));
    expect(one.admit(80_000, asks(50, 1)).refusal).toMatchObject({ used: 50, waitMs: 60_000 });
    expect(one.admit(139_999, asks(50, 1)).refusal).toMatchObject({ waitMs: 1 });
    expect(one.admit(140_000, asks(50, 50)).refusal).toBeUndefined();
  });

  it('safe: books what was used above the estimate, though it is over the limit then', () => {
    const one = account('tpm=100,rule=safe');
    complete(one, one.admit(0, asks(20, 60)), 10, answered(20, 100));
    expect(one.toJson()).toMatchObject({ windows: [{ tokens: { used: 120, most: 120 } }] });
  });

  it('takes an output for asked for where there is no max_tokens, without making the request too large by it', () => {
    const used = (limits: string, promptTokens: number): unknown => {
      const one = account(limits);
      one.admit(0, asks(promptTokens));
      return one.windows[0]?.tokens.used;
    };
    expect(used('tpm=5000', 20)).toBe(1_044);
    expect(used('tpm=5000,output=7', 20)).toBe(27);
    expect(used('tpm=500', 20)).toBe(500);
    expect(used('', 20)).toBe(1_044);
    expect(account('tpm=500').admit(0, asks(501)).refusal).toMatchObject({ requested: 501, waitMs: undefined });
  });

  it('knows a request that never fits, before everything else', () => {
    const one = account('rpm=1,tpm=100,tokens=50/1s');
    one.admit(0, asks(1, 1));
    expect(one.admit(0, asks(1, 50)).refusal).toMatchObject({
      kind: 'tokens',
      limit: 50,
      requested: 51,
      waitMs: undefined,
    });
  });

  it('keeps several windows, and tells the wait of the longest', () => {
    const one = account('tokens=100/1m,tokens=50/1s');
    one.admit(0, asks(10, 40));
    expect(one.admit(1, asks(10, 10)).refusal).toMatchObject({ window: { windowMs: 1_000 }, waitMs: 999 });
    one.admit(1_000, asks(10, 40));
    expect(one.admit(1_001, asks(1, 1)).refusal).toMatchObject({ window: { windowMs: 60_000 }, waitMs: 58_999 });
  });
});

describe('QuotaAccount, calls at one time', () => {
  it('gives a slot back at the end of a call, whatever the end', () => {
    const one = account('concurrency=2');
    const calls = [one.admit(0, asks(1)), one.admit(0, asks(1))];
    expect(one.admit(1, asks(1)).refusal).toEqual({
      kind: 'concurrency',
      window: undefined,
      limit: 2,
      used: 2,
      requested: 1,
      waitMs: 1_000,
    });
    for (const [index, outcome] of (['aborted', 'cut'] as const).entries()) {
      const call = calls[index];
      if (call !== undefined) complete(one, call, 2, { outcome, bill: undefined });
    }
    expect([one.admit(3, asks(1)), one.admit(3, asks(1))].map(({ refusal }) => refusal)).toEqual([
      undefined,
      undefined,
    ]);
    expect(one.toJson()).toMatchObject({ peakInFlight: 2, inFlight: 2, aborted: 1, refused: { concurrency: 1 } });
  });

  it('keeps them through other limits, whose windows begin empty', () => {
    const one = account('concurrency=1,rpm=1');
    const first = one.admit(0, asks(1));
    one.limit(parseLimits('concurrency=1,rpm=5'));
    expect(one.admit(1, asks(1)).refusal?.kind).toBe('concurrency');
    complete(one, first, 2, answered(1, 1));
    expect(one.toJson()).toMatchObject({ inFlight: 0, windows: [{ requests: { limit: 5, used: 0, most: 0 } }] });
  });
});

describe('QuotaAccount, bills', () => {
  it('bills whole replies and others apart', () => {
    const one = account('');
    const part = { promptTokens: 5, cachedTokens: 0, completionTokens: 2 };
    complete(one, one.admit(0, asks(5)), 1, answered(5, 7));
    complete(one, one.admit(0, asks(5)), 1, { outcome: 'cut', bill: part });
    complete(one, one.admit(0, asks(5)), 1, { outcome: 'aborted', bill: part });
    complete(one, one.admit(0, asks(5)), 1, { outcome: 'answered', bill: undefined });
    expect(one.toJson()).toMatchObject({
      billed: { replies: 1, promptTokens: 5, cachedTokens: 0, completionTokens: 7 },
      billedPartly: { replies: 2, promptTokens: 10, cachedTokens: 0, completionTokens: 4 },
    });
  });

  it('opens new books with what still runs', () => {
    const one = account('rpm=5,concurrency=5');
    complete(one, one.admit(0, asks(5, 5)), 1, answered(5, 5));
    one.admit(0, asks(5, 5));
    one.admit(0, asks(5, 5));
    one.resetBooks();
    expect(one.toJson()).toMatchObject({
      seen: 0,
      admitted: 0,
      inFlight: 2,
      peakInFlight: 2,
      billed: { replies: 0 },
      windows: [{ requests: { used: 3, most: 3 }, tokens: { used: 30, most: 30 } }],
    });
  });
});
