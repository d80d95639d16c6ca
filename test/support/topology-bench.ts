import { loadLockScripts } from '../../src/lock/lock.scripts.js';
import { RedisLockStore } from '../../src/lock/redis-lock.store.js';
import type { ClockedTopology } from './clocked-topology.js';
import { listen, type LockBench, START_US } from './lock-bench.js';

/** A bench on Redis of any kind, over the store that production has. */
export async function topologyBench(redis: ClockedTopology, keyPrefix: string): Promise<LockBench> {
  const { store, clock, settle, close } = await redis.ground(keyPrefix, START_US, loadLockScripts);
  const locks = new RedisLockStore(store);
  return { store: locks, clock, heard: await listen(locks, settle), close };
}
