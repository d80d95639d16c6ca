import { describe, expect, it } from '@jest/globals';
import { coolingDown, keyIsOut } from '../../../src/ai/route/obstacles.js';
import { UpstreamFailure } from '../../../src/ai/upstream/upstream-failure.js';
import { byName, candidateAt, SequenceBench } from '../../support/sequence-bench.js';

const [one, two] = [candidateAt(0), candidateAt(1)];
const limited = (retryAfterMs: number, { deployment } = one) =>
  coolingDown(deployment, { retryAfterMs, code: 'rate_limit_exceeded' });

describe('AttemptSequence, where nobody may be called now', () => {
  it('waits for a rate limit that is over soon, and a little more', async () => {
    const bench = new SequenceBench(byName('one'));
    bench.obstacles.set('one', limited(2_000));
    bench.onSleep = () => {
      bench.obstacles.clear();
    };
    expect(await bench.run({ one: ['ok'] })).toBe('one');
    expect([bench.tried, bench.slept]).toEqual([['one'], [2_125]]);
    expect(bench.turns[0]?.isLast).toBe(true);
  });

  it('waits for the one that is back first', async () => {
    const bench = new SequenceBench(byName('one', 'two'));
    bench.obstacles.set('one', limited(3_000)).set('two', limited(1_000, two));
    bench.onSleep = () => bench.obstacles.delete('two');
    expect(await bench.run({ two: ['ok'] })).toBe('two');
    expect(bench.slept).toEqual([1_125]);
  });

  it('waits for the end of somebody else’s probe, no longer than its patience in all', async () => {
    const bench = new SequenceBench(byName('one'));
    bench.obstacles.set('one', limited(2_000));
    bench.onSleep = () => bench.obstacles.set('one', limited(500));
    expect(await bench.failed({})).toMatchObject({ code: 'rate_limit_exceeded', retryAfterMs: 500 });
    expect(bench.tried).toEqual([]);
    expect(bench.slept.length).toBeGreaterThan(10);
    expect(bench.nowMs).toBeLessThanOrEqual(10_000);
  });

  it.each([
    ['longer than its patience', limited(10_001), 60_000],
    ['longer than its deadline', limited(5_000), 5_000],
    ['for one that has failed', coolingDown(one.deployment, { retryAfterMs: 10, code: 'overloaded' }), 60_000],
    ['for a key', keyIsOut(one.deployment, { reason: 'quota' }), 60_000],
  ])('row 11: does not wait %s', async (_, obstacle, deadlineMs) => {
    const bench = new SequenceBench(byName('one'), deadlineMs);
    bench.obstacles.set('one', obstacle);
    expect(await bench.failed({})).toBe(obstacle.error);
    expect([bench.slept, bench.tried]).toEqual([[], []]);
  });

  it('waits up to its deadline where room is given out by limits of ours', async () => {
    const bench = new SequenceBench(byName('one'));
    bench.isLimited = true;
    bench.obstacles.set('one', limited(45_000));
    bench.onSleep = () => {
      bench.obstacles.clear();
    };
    expect(await bench.run({ one: ['ok'] })).toBe('one');
    expect(bench.slept).toEqual([45_125]);
    const late = new SequenceBench(byName('one'), 45_000);
    late.isLimited = true;
    late.obstacles.set('one', limited(45_000));
    expect(await late.failed({})).toMatchObject({ code: 'rate_limit_exceeded', retryAfterMs: 45_000 });
    expect(late.slept).toEqual([]);
  });

  it('goes on as soon as somebody else’s probe has ended, however long that may take', async () => {
    const bench = new SequenceBench(byName('one'), 4_000);
    bench.isLimited = true;
    const probed = coolingDown(one.deployment, {
      retryAfterMs: 5_000,
      code: 'rate_limit_exceeded',
      state: 'half-open',
    });
    bench.obstacles.set('one', probed);
    bench.onSleep = () => {
      if (bench.nowMs > 1_000) bench.obstacles.clear();
    };
    expect(await bench.run({ one: ['ok'] })).toBe('one');
    expect(bench.nowMs).toBeLessThan(1_500);
    expect(bench.slept.length).toBeGreaterThan(3);
  });

  it('does not wait where somebody else was called, or can be', async () => {
    const other = new SequenceBench(byName('one', 'two'));
    other.obstacles.set('one', limited(1_000));
    expect(await other.run({ two: ['ok'] })).toBe('two');
    const failed = new SequenceBench(byName('one', 'two'));
    failed.obstacles.set('one', limited(1_000));
    const refusal = new UpstreamFailure('request', 'invalid_request', 'no');
    expect(await failed.failed({ two: [refusal] })).toBe(refusal);
    for (const bench of [other, failed]) expect(bench.slept).toEqual([]);
  });

  it('tells what came after the wait, and does not begin anew', async () => {
    const bench = new SequenceBench(byName('one'));
    bench.obstacles.set('one', limited(1_000));
    bench.onSleep = () => {
      bench.obstacles.clear();
    };
    const again = new UpstreamFailure('upstream', 'rate_limit_exceeded', 'at its limit', { retryAfterMs: 90_000 });
    expect(await bench.failed({ one: [again] })).toBe(again);
    expect([bench.tried, bench.slept]).toEqual([['one'], [1_125]]);
  });
});
