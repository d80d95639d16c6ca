import { afterAll, beforeAll } from '@jest/globals';
import {
  describeLocks,
  describeLocksThroughFailover,
  describeLocksUnderFaults,
  describeLocksWithin,
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

describeLocksThroughFailover('Cluster', () => ground);

if (isFullProof) {
  let benches = 0;
  describeLockStore('RedisLockStore on Cluster', () => {
    benches += 1;
    return topologyBench(ground.redis, `s${benches}:`);
  });
  describeLocks('Cluster', () => ground);
  describeLocksUnderFaults('Cluster', () => ground);
  describeLocksWithin('Cluster', () => ground);
}
