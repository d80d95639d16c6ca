import { afterEach, expect, it } from '@jest/globals';
import { ConversationLocks } from '../../src/conversation/turn/conversation.locks.js';
import { LockService, MemoryLockStore } from '../../src/lock/index.js';
import { nodeEnvironment } from '../../src/store/index.js';
import { eventually } from '../support/eventually.js';
import { pass } from '../support/pass.js';

const PLACE = { owner: 'shop', id: 'c1' };
const SETTINGS = { leaseMs: 30_000, requestDeadlineMs: 120_000, longestQueue: 9 };

let service: LockService | undefined;
afterEach(() => service?.close(0));

/** Counts what the store is asked to renew. */
class CountingStore extends MemoryLockStore {
  renewals = 0;

  override beat(...[command]: Parameters<MemoryLockStore['beat']>): ReturnType<MemoryLockStore['beat']> {
    this.renewals += command.renewals.length;
    return super.beat(command);
  }
}

it('have a lease of its full length at once, also when it was handed over; one that was free costs no renewal', async () => {
  const store = new CountingStore();
  // Time does not renew it here.
  const environment = { ...nodeEnvironment(), after: () => ({ cancel: () => undefined }) };
  service = new LockService(store, { graceMs: 0, environment });
  const locks = new ConversationLocks(service, { find: () => Promise.resolve(undefined) }, SETTINGS);
  const first = await locks.acquire(PLACE, { waits: true, waitMs: 5_000 });
  const waiting = locks.acquire(PLACE, { waits: true, waitMs: 5_000 });
  await pass(20);
  expect([store.renewals, first.remainingMs() > 29_000]).toEqual([0, true]);
  await first.release();
  const second = await waiting;
  await eventually(() => second.remainingMs() > 29_000);
  expect(store.renewals).toBe(1);
  await second.release();
});
