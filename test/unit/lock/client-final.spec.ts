import { describe, expect, it } from '@jest/globals';
import { LockStoreError } from '../../../src/lock/index.js';
import { ClientRig } from '../../support/lock-client-rig.js';

const WRONG_TYPE = new LockStoreError('WRONGTYPE', { isRetryable: false });

describe('LockClient, where the store can never answer', () => {
  it('tells all who wait at once, and asks no more', () => {
    const rig = new ClientRig();
    for (const number of [1, 2]) {
      rig.acquire();
      rig.acquires.at(-1)?.answer({ kind: 'queued', ticket: number, counter: number, nextExpiryMs: 10_000 });
    }
    rig.pass(500);
    rig.beats[0]?.fail(WRONG_TYPE);
    expect(rig.events).toEqual(['failed: store at 500', 'failed: store at 500']);
    rig.pass(5_000);
    expect([rig.acquires.length, rig.beats.length]).toEqual([2, 1]);
  });

  it('goes on waiting where the store is only silent', () => {
    const rig = new ClientRig();
    rig.acquire();
    rig.acquires[0]?.answer({ kind: 'queued', ticket: 1, counter: 1, nextExpiryMs: 10_000 });
    rig.pass(500);
    rig.beats[0]?.silence();
    rig.pass(1_000);
    expect(rig.events).toEqual([]);
    expect(rig.beats.length).toBeGreaterThan(1);
  });

  it('keeps what is held until its own deadline', () => {
    const rig = new ClientRig();
    rig.acquire({ leaseMs: 1_000 });
    rig.acquires[0]?.answer({ kind: 'granted', fence: 1 });
    rig.pass(400);
    rig.beats[0]?.fail(WRONG_TYPE);
    expect(rig.events).toEqual(['held at 0']);
    rig.pass(1_000);
    expect(rig.events).toEqual(['held at 0', 'lost: expired at 988']);
  });
});
