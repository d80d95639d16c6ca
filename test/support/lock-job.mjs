/**
 * Preloaded into the server under test: a developer's module that holds one lock for as long as the server lives, and waits for it
 * once more. Tells the parent how both ended.
 */
import { LockService } from '../../dist/lock/index.js';

const LEASE_MS = 2_000;

LockService.prototype.onApplicationBootstrap = function begin() {
  void run(this, 'holder', (lease) => new Promise((resolve) => lease.signal.addEventListener('abort', resolve)));
  void run(this, 'waiter', () => undefined);
};

async function run(locks, name, work) {
  try {
    await locks.withLock('job', { leaseMs: LEASE_MS, waitMs: 60_000 }, (lease) => {
      process.send({ [name]: 'held' });
      return work(lease);
    });
    process.send({ [name]: 'released' });
  } catch (error) {
    process.send({ [name]: error.name });
  }
}
