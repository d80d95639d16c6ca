import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { FastifyRequest } from 'fastify';
import { LocksController } from '../../../src/admin/locks.controller.js';
import type { ActFacts } from '../../../src/auth/index.js';
import { LockService, LockStoreError, MemoryLockStore } from '../../../src/lock/index.js';

let store: MemoryLockStore;
let locks: LockService;
let controller: LocksController;
let audited: (ActFacts | undefined)[] = [];
beforeEach(() => {
  store = new MemoryLockStore();
  locks = new LockService(store);
  audited = [];
  controller = new LocksController(locks);
});
async function release(key: string, query: { mode: 'drain' | 'now'; token?: string }): Promise<unknown> {
  const request = {} as FastifyRequest;
  try {
    return await controller.release(key, query, request);
  } finally {
    audited.push(request.actFacts);
  }
}
afterEach(() => locks.close());

describe('LocksController', () => {
  it('names the last lock that it lists', async () => {
    const leases = [await locks.acquire('a'), await locks.acquire('b')];
    const { data, last_id } = await controller.list({ limit: 10 });
    expect([data.map(({ key }) => key), last_id]).toEqual([['a', 'b'], 'b']);
    for (const lease of leases) await lease.release();
  });

  it('says whether there is more than it lists', async () => {
    const leases = [await locks.acquire('a'), await locks.acquire('b')];
    expect(await controller.list({ limit: 1 })).toMatchObject({ data: [{ object: 'lock' }], has_more: true });
    expect(await controller.list({ limit: 2 })).toMatchObject({ data: [{}, {}], has_more: false });
    for (const lease of leases) await lease.release();
    expect(await controller.list({ limit: 2 })).toEqual({ object: 'list', data: [], has_more: false, last_id: null });
  });

  it('takes a lock from one of its holders only, if told which', async () => {
    const mode = { permits: 2 };
    const [one, other] = [await locks.acquire('pool', { mode }), await locks.acquire('pool', { mode })];
    expect(await release('pool', { mode: 'now', token: one.token })).toMatchObject({ revoked: 1 });
    expect((await controller.get('pool')).holders.map(({ token }) => token)).toEqual([other.token]);
    const again = release('pool', { mode: 'now', token: one.token });
    await expect(again).rejects.toMatchObject({ code: 'not_found', message: 'lock "pool" has no such holder' });
    await other.release();
  });

  it('does not claim to have released what nobody holds', async () => {
    await expect(release('free', { mode: 'drain' })).rejects.toMatchObject({
      code: 'not_found',
      key: 'free',
      message: 'lock "free" has no holder',
    });
  });

  it('says for the audit which lock was taken from whom, and how', async () => {
    const mode = { permits: 3 };
    const [one] = await Promise.all([1, 2, 3].map(() => locks.acquire('pool', { mode })));
    const deed = { lock: 'pool' };
    await release('pool', { mode: 'now', token: one?.token ?? '' });
    expect(audited).toEqual([{ ...deed, hold: one?.token, mode: 'now', revoked: 1 }]);
    await release('pool', { mode: 'drain' });
    expect(audited.slice(1)).toEqual([{ ...deed, mode: 'drain', revoked: 2 }]);
  });

  it('says for the audit that nothing was taken', async () => {
    await expect(release('free', { mode: 'now' })).rejects.toMatchObject({ code: 'not_found' });
    expect(audited).toEqual([{ lock: 'free', mode: 'now', revoked: 0 }]);
  });

  it('says for the audit what may have happened when the store gives no answer', async () => {
    store.revoke = () => Promise.reject(new LockStoreError('it is away'));
    await expect(release('pool', { mode: 'now' })).rejects.toMatchObject({ code: 'store_unavailable' });
    expect(audited).toEqual([{ lock: 'pool', mode: 'now', revoked: 'unknown' }]);
  });
});
