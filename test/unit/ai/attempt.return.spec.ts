import { describe, expect, it } from '@jest/globals';
import { coolingDown, keyIsOut } from '../../../src/ai/route/obstacles.js';
import { LateSendError } from '../../../src/ai/upstream/sending.js';
import { UpstreamFailure } from '../../../src/ai/upstream/upstream-failure.js';
import { byName, candidateAt, SequenceBench } from '../../support/sequence-bench.js';

const BROKEN = new UpstreamFailure('upstream', 'upstream_error', 'broken');

describe('AttemptSequence, before it calls the same deployment again', () => {
  const limited = new UpstreamFailure('upstream', 'rate_limit_exceeded', 'at its limit', { retryAfterMs: 1_000 });
  const one = candidateAt(0);
  const probing = coolingDown(one.deployment, { retryAfterMs: 5_000, code: 'rate_limit_exceeded' });

  it('asks the gate, and leaves whoever was taken out meanwhile', async () => {
    for (const obstacle of [probing, keyIsOut(one.deployment, { reason: 'refused' })]) {
      const bench = new SequenceBench();
      bench.onSleep = () => bench.obstacles.set('one', obstacle);
      expect(await bench.run({ one: [BROKEN, 'ok'] })).toBe('two');
      expect([bench.tried, bench.entered]).toEqual([
        ['one', 'two'],
        ['one', 'one', 'two'],
      ]);
      expect(bench.call.report.attempts).toBe(2);
    }
  });

  it('row 4: waits for somebody else’s probe after the time that the provider named, where nobody else is left', async () => {
    const bench = new SequenceBench(byName('one'));
    bench.onSleep = () => {
      if (bench.slept.length < 6) bench.atTheDoor.set('one', probing);
      else bench.atTheDoor.delete('one');
    };
    expect(await bench.run({ one: [limited, 'ok'] })).toBe('one');
    expect([bench.tried, bench.slept]).toEqual([
      ['one', 'one'],
      [1_125, 150, 150, 150, 150, 150],
    ]);
  });

  it('does not wait for it where another one could answer, after a failure without such a time, or for a key', async () => {
    const large = new SequenceBench(byName('one', 'three'));
    large.onSleep = () => large.atTheDoor.set('one', probing);
    expect(await large.run({ one: [limited] })).toBe('three');
    const broken = new SequenceBench(byName('one'));
    broken.onSleep = () => broken.atTheDoor.set('one', probing);
    expect(await broken.failed({ one: [BROKEN] })).toMatchObject({ code: 'upstream_error' });
    const parked = new SequenceBench(byName('one'));
    parked.onSleep = () => parked.atTheDoor.set('one', keyIsOut(one.deployment, { reason: 'quota' }));
    expect(await parked.failed({ one: [limited] })).toMatchObject({ code: 'rate_limit_exceeded' });
    for (const bench of [large, broken, parked]) expect(bench.slept).toHaveLength(1);
  });

  it('waits for it where its connection has made it late, as who was never let in', async () => {
    const late = new LateSendError();
    const bench = new SequenceBench(byName('one'));
    bench.isLimited = true;
    // Somebody else meets the limit meanwhile, twice.
    bench.onTry = () => {
      if (bench.tried.length < 3) bench.atTheDoor.set('one', probing);
    };
    bench.onSleep = () => {
      if (bench.slept.length % 3 === 0) bench.atTheDoor.delete('one');
    };
    expect(await bench.run({ one: [late, late, 'ok'] })).toBe('one');
    expect([bench.tried.length, bench.call.report.attempts]).toEqual([3, 1]);
  });

  it('waits for it where a retry that was let in is late', async () => {
    const bench = new SequenceBench(byName('one'));
    bench.onTry = () => {
      if (bench.tried.length === 2) bench.atTheDoor.set('one', probing);
    };
    bench.onSleep = () => {
      if (bench.slept.length > 1) bench.atTheDoor.delete('one');
    };
    expect(await bench.run({ one: [limited, new LateSendError(), 'ok'] })).toBe('one');
    expect(bench.call.report.attempts).toBe(2);
  });

  it('waits no longer than its deadline, and lets go what it has entered after it', async () => {
    const bench = new SequenceBench(byName('one'), 8_000);
    bench.onSleep = () => bench.atTheDoor.set('one', probing);
    expect(await bench.failed({ one: [limited] })).toMatchObject({ code: 'rate_limit_exceeded' });
    expect([bench.tried, bench.nowMs <= 8_000]).toEqual([['one'], true]);
    const late = new SequenceBench(byName('one'), 2_000);
    late.onSleep = () => {
      late.enterMs = 5_000;
    };
    await late.failed({ one: [limited] });
    expect([late.tried, late.forgone]).toEqual([['one'], ['one']]);
  });
});
