import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { TOKEN_RULES, type TokenRule } from '../../../src/simulator/quota/quota.limits.js';
import { SlidingLoad, type Charge } from '../../../src/simulator/quota/sliding.load.js';
import { sized } from '../../support/proof-scale.js';

const WINDOW_MS = 100;

/** One call as it was, for a model that remembers everything and computes nothing ahead. */
interface Call {
  readonly at: number;
  readonly estimate: number;
  endedAt: number;
  actual: number;
}

/** What a call weighs at a moment, by the words of the rule. */
function weight({ at, estimate, endedAt, actual }: Call, rule: TokenRule, moment: number): number {
  const shares = (from: number): boolean => from <= moment && moment - from < WINDOW_MS;
  const isOpen = at <= moment && moment < endedAt;
  switch (rule) {
    case 'adm':
      return shares(at) ? estimate : 0;
    case 'cmp':
      return shares(endedAt) ? actual : 0;
    case 'safe':
      return Math.max(isOpen || shares(at) ? estimate : 0, shares(endedAt) ? actual : 0);
  }
}

const loadAt = (calls: readonly Call[], rule: TokenRule, moment: number): number =>
  calls.reduce((sum, call) => sum + weight(call, rule, moment), 0);

/** The first moment from `now` on with room, if calls that are open end within their window and use nothing. */
function waitFor(calls: readonly Call[], rule: TokenRule, now: number, room: number): number | undefined {
  const hopeful = calls.map((call) =>
    call.endedAt === Infinity && now - call.at < WINDOW_MS ? { ...call, endedAt: now, actual: 0 } : call,
  );
  for (let moment = now; moment <= now + WINDOW_MS; moment += 1) {
    if (loadAt(hopeful, rule, moment) <= room) return moment - now;
  }
  return undefined;
}

const steps = fc.array(
  fc.record({
    // Also exactly a window, and nothing at all.
    passes: fc.oneof(fc.nat(30), fc.constantFrom(0, WINDOW_MS - 1, WINDOW_MS, 3 * WINDOW_MS)),
    step: fc.constantFrom('admit', 'admit', 'settle', 'look'),
    amount: fc.nat(20),
    which: fc.nat(),
    room: fc.nat(60),
  }),
  { maxLength: 80 },
);

describe('SlidingLoad', () => {
  it.each(TOKEN_RULES)('agrees with the definition in every window, by the rule %s', (rule) => {
    fc.assert(
      fc.property(steps, (taken) => {
        const load = new SlidingLoad(WINDOW_MS, rule);
        const calls: Call[] = [];
        const open: [Call, Charge][] = [];
        let now = 0;
        let most = 0;
        for (const { passes, step, amount, which, room } of taken) {
          now += passes;
          if (step === 'admit') {
            const call = { at: now, estimate: amount, endedAt: Infinity, actual: 0 };
            calls.push(call);
            open.push([call, load.admit(now, amount)]);
          } else if (step === 'settle') {
            const [ended] = open.splice(open.length === 0 ? 0 : which % open.length, 1);
            if (ended === undefined) continue;
            Object.assign(ended[0], { endedAt: now, actual: amount });
            load.settle(ended[1], now, amount);
            load.settle(ended[1], now, amount + 1);
          } else {
            load.advance(now);
          }
          most = Math.max(most, loadAt(calls, rule, now));
          load.advance(now);
          expect([load.used, load.most]).toEqual([loadAt(calls, rule, now), most]);
          expect(load.waitMs(room)).toBe(waitFor(calls, rule, now, room));
        }
      }),
      { numRuns: sized(300, 20_000) },
    );
  });

  it('keeps its memory to what is on the window', () => {
    const load = new SlidingLoad(1, 'safe');
    for (let now = 0; now < 100_000; now += 1) load.settle(load.admit(now, 2), now, 1);
    expect(load.used).toBe(2);
    // All that it holds, however long it has run.
    expect(JSON.stringify(load).length).toBeLessThan(200_000);
  });

  it('says how long it takes until all is back', () => {
    const load = new SlidingLoad(WINDOW_MS, 'safe');
    expect(load.restoreMs).toBe(0);
    const charge = load.admit(10, 5);
    load.settle(charge, 40, 3);
    expect(load.restoreMs).toBe(WINDOW_MS);
    load.advance(100);
    expect(load.restoreMs).toBe(40);
    load.advance(140);
    expect([load.used, load.restoreMs]).toEqual([0, 0]);
  });

  it('opens new books with what lies on the window', () => {
    const load = new SlidingLoad(WINDOW_MS, 'adm');
    load.admit(0, 5);
    load.admit(60, 1);
    load.advance(110);
    load.resetMost();
    expect([load.used, load.most]).toEqual([1, 1]);
  });
});
