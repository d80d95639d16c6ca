import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { ATTEMPT_RULES } from '../../../src/ai/call/failure.policy.js';
import { coolingDown, keyIsOut } from '../../../src/ai/route/obstacles.js';
import { LateSendError } from '../../../src/ai/upstream/sending.js';
import { type Blame, UpstreamFailure } from '../../../src/ai/upstream/upstream-failure.js';
import type { ApiErrorOptions, ErrorCode } from '../../../src/http/index.js';
import { sized } from '../../support/proof-scale.js';
import { byName, CANDIDATES, candidateAt, type Outcome, SequenceBench } from '../../support/sequence-bench.js';

const failure = (blame: Blame, code: ErrorCode, options: ApiErrorOptions = {}): UpstreamFailure =>
  new UpstreamFailure(blame, code, code, options);

const BROKEN = failure('upstream', 'upstream_error');
const LIMITED = failure('upstream', 'rate_limit_exceeded');
const TOO_LONG = failure('request', 'context_length_exceeded');
const REFUSED = failure('request', 'invalid_request');
const USED_UP = failure('key', 'insufficient_quota');
const NO_KEY = failure('key', 'upstream_auth');

const all = (): SequenceBench => new SequenceBench();

describe('AttemptSequence', () => {
  it('ends with the first answer', async () => {
    const bench = all();
    expect(await bench.run({})).toBe('one');
    expect([bench.tried, bench.call.report.attempts]).toEqual([['one'], 1]);
  });

  it('row 8: passes along the chain once, twice each, and no further', async () => {
    const bench = all();
    expect(await bench.failed({ one: [BROKEN], two: [BROKEN], three: [BROKEN] })).toMatchObject({
      code: 'upstream_error',
      isRetryable: false,
    });
    expect(bench.tried).toEqual(['one', 'one', 'two', 'two', 'three', 'three']);
    expect(bench.slept).toEqual([125, 125, 125]);
  });

  it('has a call whose connection took too long let in once more, as often as it takes, and counts no attempt', async () => {
    const bench = all();
    const late = new LateSendError();
    expect(await bench.run({ one: [late, late, late, BROKEN, late, 'ok'] })).toBe('one');
    expect(bench.entered).toEqual(['one', 'one', 'one', 'one', 'one', 'one']);
    expect([bench.call.report.attempts, bench.slept]).toEqual([2, [125]]);
  });

  it('leaves a deployment that has no room for it any more, and stops at the deadline', async () => {
    const late = new LateSendError();
    const bench = all();
    const answer = bench.sequence.answer(({ candidate: { deployment } }) => {
      if (deployment.provider !== 'one') return Promise.resolve(deployment.provider);
      bench.atTheDoor.set('one', keyIsOut(deployment, { reason: 'refused' }));
      return Promise.reject(late);
    });
    expect(await answer).toBe('two');
    const slow = new SequenceBench(byName('one'), 1_000);
    expect(await slow.failed({ one: [late] })).toMatchObject({ code: 'timeout' });
    expect([slow.tried.length, slow.call.report.attempts]).toEqual([10, 0]);
  });

  it('row 1, row 20: goes no further where the request is to blame', async () => {
    const bench = all();
    expect(await bench.failed({ one: [REFUSED] })).toBe(REFUSED);
    expect(bench.tried).toEqual(['one']);
  });

  it('row 2: leaves a used-up key at once', async () => {
    const bench = all();
    expect(await bench.run({ one: [USED_UP] })).toBe('two');
    expect([bench.tried, bench.slept]).toEqual([['one', 'two'], []]);
    expect(bench.plan.reasonFor(candidateAt(2).model)).toBe('quota');
  });

  it('row 5: leaves who is at its rate limit for its sibling, and waits where there is none', async () => {
    const limited = failure('upstream', 'rate_limit_exceeded', { retryAfterMs: 2_000 });
    const bench = all();
    expect(await bench.run({ one: [limited], two: [limited, 'ok'] })).toBe('two');
    expect(bench.tried).toEqual(['one', 'two', 'two']);
    expect(bench.slept).toEqual([2_125]);
  });

  it('row 14: skips all windows that are not larger than the one that was too small', async () => {
    const bench = all();
    expect(await bench.run({ one: [TOO_LONG] })).toBe('three');
    expect(bench.tried).toEqual(['one', 'three']);
    expect(bench.plan.reasonFor(candidateAt(2).model)).toBe('context');
    const lonely = new SequenceBench(byName('one', 'two'));
    expect(await lonely.failed({ one: [TOO_LONG] })).toBe(TOO_LONG);
    expect(lonely.tried).toEqual(['one']);
  });

  it('tells that the prompt was too long, whatever happened where it would have fitted', async () => {
    expect(await all().failed({ one: [TOO_LONG], three: [BROKEN] })).toBe(TOO_LONG);
  });

  it('passes over who may not be called, and calls nobody in vain', async () => {
    const bench = all();
    const [one, two] = [candidateAt(0), candidateAt(1)];
    bench.obstacles.set('one', coolingDown(one.deployment, { retryAfterMs: 3_000 }));
    bench.atTheDoor.set('two', coolingDown(two.deployment, { retryAfterMs: 900 }));
    expect(await bench.run({})).toBe('three');
    expect([bench.tried, bench.plan.reasonFor(candidateAt(2).model)]).toEqual([['three'], 'cooldown']);
  });

  it('tells when the first of them will be back where nobody may be called', async () => {
    const bench = new SequenceBench(byName('one', 'two'));
    const [one, two] = [candidateAt(0), candidateAt(1)];
    bench.obstacles.set('one', coolingDown(one.deployment, { retryAfterMs: 3_000 }));
    bench.obstacles.set('two', coolingDown(two.deployment, { retryAfterMs: 900 }));
    expect(await bench.failed({})).toMatchObject({ code: 'overloaded', retryAfterMs: 900 });
    expect(bench.tried).toEqual([]);
  });

  it('prefers somebody who will be back to keys that are out', async () => {
    const two = candidateAt(1);
    const cooling = coolingDown(two.deployment, { retryAfterMs: 900 });
    const failing = new SequenceBench(byName('one', 'two'));
    failing.obstacles.set('two', cooling);
    expect(await failing.failed({ one: [NO_KEY] })).toBe(cooling.error);
    const parked = new SequenceBench(byName('one', 'two'));
    parked.obstacles.set('one', keyIsOut(two.deployment, { reason: 'quota' }));
    parked.obstacles.set('two', cooling);
    expect(await parked.failed({})).toBe(cooling.error);
  });

  it('tells the most meaningful of several failures', async () => {
    const told = await all().failed({ one: [NO_KEY], two: [USED_UP], three: [LIMITED] });
    expect(told).toBe(LIMITED);
    expect(await all().failed({ one: [NO_KEY], two: [USED_UP], three: [USED_UP] })).toBe(NO_KEY);
  });

  it('row 46: knows its last candidate, also when those after it may not be called', async () => {
    const bench = all();
    await bench.failed({ one: [BROKEN], two: [BROKEN], three: [BROKEN] });
    expect(bench.turns.map(({ isLast }) => isLast)).toEqual([false, false, false, false, true, true]);
    const [two, three] = [candidateAt(1), candidateAt(2)];
    const alone = all();
    alone.obstacles.set('two', coolingDown(two.deployment, { retryAfterMs: 1_000 }));
    alone.obstacles.set('three', coolingDown(three.deployment, { retryAfterMs: 1_000 }));
    await alone.run({});
    expect(alone.turns.map(({ isLast }) => isLast)).toEqual([true]);
  });

  it('lets nobody begin after the deadline, and lets go what it has entered', async () => {
    const bench = new SequenceBench(CANDIDATES, 150);
    bench.attemptMs = 200;
    expect(await bench.failed({ one: [NO_KEY] })).toBe(NO_KEY);
    expect(bench.tried).toEqual(['one']);
    const late = new SequenceBench(CANDIDATES, 150);
    late.enterMs = 200;
    expect(await late.failed({})).toMatchObject({ code: 'timeout', isRetryable: false });
    expect([late.tried, late.forgone]).toEqual([[], ['one']]);
  });

  it('takes what is left of the last millisecond for nothing: timers fire early', async () => {
    const bench = new SequenceBench(CANDIDATES, 100);
    bench.attemptMs = 99.5;
    await bench.failed({ one: [failure('upstream', 'timeout', { isRetryable: false })] });
    expect(bench.tried).toEqual(['one']);
  });

  it('ends with the caller’s own reason when it leaves, also in a pause', async () => {
    const bench = all();
    const reason = new Error('left');
    const run = bench.sequence.answer(() => {
      bench.leaving.abort(reason);
      return Promise.reject(BROKEN);
    });
    await expect(run).rejects.toBe(reason);
    const resting = all();
    resting.onSleep = () => {
      resting.leaving.abort(reason);
    };
    expect(await resting.failed({ one: [BROKEN] })).toBe(reason);
    expect(resting.tried).toEqual(['one']);
  });

  it('does not take a fault of its own for the provider’s', async () => {
    const fault = new TypeError('a bug');
    await expect(all().sequence.answer(() => Promise.reject(fault))).rejects.toBe(fault);
  });

  const outcomes = fc.array(
    fc.constantFrom<Outcome>(
      'ok',
      BROKEN,
      LIMITED,
      TOO_LONG,
      REFUSED,
      USED_UP,
      NO_KEY,
      failure('upstream', 'timeout'),
      failure('upstream', 'rate_limit_exceeded', { retryAfterMs: 3_000 }),
      failure('upstream', 'overloaded', { retryAfterMs: 3_600_000 }),
    ),
    { minLength: 1, maxLength: 3 },
  );

  it('never exceeds its attempts, never begins after the deadline, and ends at an answer or at the request’s own fault', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.record({ one: outcomes, two: outcomes, three: outcomes }),
        fc.integer({ min: 1, max: 20_000 }),
        async (scripts, deadlineMs) => {
          const bench = new SequenceBench(CANDIDATES, deadlineMs);
          const answer = await bench.run(scripts).catch((error: unknown) => error);
          expect(bench.tried.length).toBeLessThanOrEqual(ATTEMPT_RULES.perRequest);
          expect(bench.call.report.attempts).toBe(bench.tried.length);
          for (const name of ['one', 'two', 'three']) {
            const here = bench.tried.filter((each) => each === name);
            expect(here.length).toBeLessThanOrEqual(ATTEMPT_RULES.perDeployment);
          }
          for (const { remainingMs } of bench.turns) expect(remainingMs).toBeGreaterThan(0);
          expect(bench.tried).toEqual(bench.tried.toSorted((a, b) => ORDER.indexOf(a) - ORDER.indexOf(b)));
          if (typeof answer === 'string') expect(bench.tried.at(-1)).toBe(answer);
          else expect(answer).toBeInstanceOf(UpstreamFailure);
          const refused = bench.tried.findIndex(
            (name, at) => outcomeOf(bench.tried, at, scripts[name as 'one']) === REFUSED,
          );
          if (refused >= 0) expect(refused).toBe(bench.tried.length - 1);
        },
      ),
      { numRuns: sized(500, 50_000) },
    );
  });
});

const ORDER = ['one', 'two', 'three'];

/** What the attempt at that place met. */
function outcomeOf(tried: readonly string[], at: number, script: readonly Outcome[]): Outcome | undefined {
  const nth = tried.slice(0, at).filter((each) => each === tried[at]).length;
  return script[nth] ?? script.at(-1);
}
