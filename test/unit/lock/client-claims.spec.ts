import { describe, expect, it } from '@jest/globals';
import { ClientRig } from '../../support/lock-client-rig.js';

describe('LockClient, granted too late to start', () => {
  it('waits for two answers at most where it must not wait: a grant that is late and then not confirmed has failed', () => {
    const rig = new ClientRig();
    rig.acquire({ waits: false, leaseMs: 300 });
    rig.pass(600);
    rig.acquires[0]?.answer({ kind: 'granted', fence: 7 });
    rig.pass(1_000);
    rig.beats[0]?.silence();
    expect(rig.events).toEqual(['failed: store at 1600']);
    const beats = rig.beats.length;
    rig.beats[0]?.answer({ counter: 7, nextExpiryMs: 300, renewals: ['renewed'], waiters: [] });
    rig.pass(5_000);
    expect([rig.acquires.length, rig.beats.length]).toEqual([1, beats]);
    expect(rig.events).toEqual(['failed: store at 1600']);
    expect(rig.leaves.at(-1)?.command.token).toBe('p-1');
  });

  it.each(['renewed', 'gone'] as const)(
    'asks twice at most where it must not wait and every answer is too late: %s',
    (answer) => {
      const rig = new ClientRig();
      rig.acquire({ waits: false, leaseMs: 100 });
      rig.pass(150);
      rig.acquires[0]?.answer({ kind: 'granted', fence: 7 });
      rig.pass(150);
      rig.beats[0]?.answer({ counter: 7, nextExpiryMs: 100, renewals: [answer], waiters: [] });
      expect(rig.events).toEqual(['failed: store at 300']);
      rig.pass(5_000);
      expect([rig.acquires.length, rig.beats.length]).toEqual([1, 1]);
    },
  );

  it('claims on and on where it waits, and knows that the store is why', () => {
    const rig = new ClientRig();
    const acquisition = rig.acquire({ leaseMs: 300 });
    rig.pass(600);
    rig.acquires[0]?.answer({ kind: 'granted', fence: 7 });
    rig.pass(1_000);
    rig.beats[0]?.silence();
    expect(acquisition.silence).toEqual(new Error('silence'));
    rig.pass(400);
    expect(rig.beats.length).toBeGreaterThan(1);
    rig.beats.at(-1)?.answer({ counter: 7, nextExpiryMs: 300, renewals: ['renewed'], waiters: [] });
    expect(acquisition.silence).toBeUndefined();
    expect(rig.events).toEqual(['held at 2000']);
  });
});
