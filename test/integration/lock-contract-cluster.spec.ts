import { afterAll, beforeAll } from '@jest/globals';
import {
  describeLocks,
  describeLocksThroughFailover,
  describeLocksUnderFaults,
  describeLocksWithin,
} from '../contract/lock.contract.js';
import { RedisGround } from '../support/lock-grounds.js';
import { isFullProof } from '../support/proof-scale.js';
import { startCluster } from '../support/redis-kinds.js';

let ground: RedisGround;

beforeAll(async () => {
  ground = new RedisGround(await startCluster());
}, 120_000);
afterAll(() => ground.stop());

describeLocksThroughFailover('Cluster', () => ground);

if (isFullProof) {
  describeLocks('Cluster', () => ground);
  describeLocksUnderFaults('Cluster', () => ground);
  describeLocksWithin('Cluster', () => ground);
}
