import { describe, expect, it } from '@jest/globals';
import { lockCard } from '../../../src/admin/lock.card.js';
import type { LockState } from '../../../src/lock/index.js';

const grantedAt = Date.parse('2026-11-29T12:00:00.123Z');

const state: LockState = {
  key: 'order:42',
  capacity: 3,
  used: 2,
  queued: 250,
  holders: [
    {
      token: 'a-token',
      fence: grantedAt * 1_000 + 999,
      weight: 2,
      process: 'a-process',
      description: 'paying',
      leaseLeftMs: 1_234,
      state: 'held',
    },
  ],
  waiters: [{ token: 'secret', ticket: (grantedAt + 5) * 1_000, process: 'b-process', description: '' }],
};

describe('lockCard()', () => {
  it('tells who holds a lock since when, by its fence, and who is next, by its ticket', () => {
    expect(lockCard(state)).toEqual({
      object: 'lock',
      key: 'order:42',
      capacity: 3,
      used: 2,
      holders: [
        {
          token: 'a-token',
          process: 'a-process',
          description: 'paying',
          state: 'held',
          since: '2026-11-29T12:00:00.123Z',
          lease_left_ms: 1_234,
          fence: grantedAt * 1_000 + 999,
          weight: 2,
        },
      ],
      queue: {
        length: 250,
        waiters: [{ process: 'b-process', description: '', since: '2026-11-29T12:00:00.128Z' }],
      },
    });
  });

  it('has neither holder nor waiter where there is none', () => {
    const { holders, queue } = lockCard({ ...state, used: 0, queued: 0, holders: [], waiters: [] });
    expect([holders, queue]).toEqual([[], { length: 0, waiters: [] }]);
  });
});
