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
import { startSentinel } from '../support/redis-kinds.js';
import { topologyBench } from '../support/topology-bench.js';

let ground: RedisGround;

beforeAll(async () => {
  ground = new RedisGround(await startSentinel());
}, 120_000);
afterAll(() => ground.stop());

describeLocksThroughFailover('Sentinel', () => ground);

if (isFullProof) {
  let benches = 0;
  describeLockStore('RedisLockStore on Sentinel', () => {
    benches += 1;
    return topologyBench(ground.redis, `s${benches}:`);
  });
  describeLocks('Sentinel', () => ground);
  describeLocksUnderFaults('Sentinel', () => ground);
  describeLocksWithin('Sentinel', () => ground);
}
