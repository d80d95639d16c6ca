import { afterAll, beforeAll } from '@jest/globals';
import {
  ALL_GROUPS,
  describeLocks,
  describeLocksThroughFailover,
  describeLocksUnderFaults,
  describeLocksWithin,
  ROUTED_GROUPS,
} from '../contract/lock.contract.js';
import { describeLockStore } from '../contract/lock-store.contract.js';
import { RedisGround } from '../support/lock-grounds.js';
import { isFullProof } from '../support/proof-scale.js';
import { startCluster } from '../support/redis-kinds.js';
import { topologyBench } from '../support/topology-bench.js';

let ground: RedisGround;

beforeAll(async () => {
  ground = new RedisGround(await startCluster());
}, 120_000);
afterAll(() => ground.stop());

describeLocks('Cluster', () => ground, isFullProof ? ALL_GROUPS : ROUTED_GROUPS);

if (isFullProof) {
  let benches = 0;
  describeLockStore('RedisLockStore on Cluster', () => {
    benches += 1;
    return topologyBench(ground.redis, `s${benches}:`);
  });
  describeLocksUnderFaults('Cluster', () => ground);
  describeLocksWithin('Cluster', () => ground);
  // test/chaos/lock-failover.spec.ts has failovers at every size.
  describeLocksThroughFailover('Cluster', () => ground);
}
