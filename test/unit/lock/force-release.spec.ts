import { expect, it } from '@jest/globals';
import { LockOptionsError, LockService, MemoryLockStore } from '../../../src/lock/index.js';

it.each([{ token: null }, { token: 5 }, { mode: 'drian' }, { mode: null }])(
  'forceRelease() takes a lock from nobody where it is told %j',
  async (how) => {
    const locks = new LockService(new MemoryLockStore(), { graceMs: 0 });
    const lease = await locks.acquire('k');
    await expect(locks.forceRelease('k', how as object)).rejects.toThrow(LockOptionsError);
    expect(lease.signal.aborted).toBe(false);
    expect((await locks.inspect('k'))?.holders).toMatchObject([{ state: 'held' }]);
    await lease.release();
    await locks.close();
  },
);
