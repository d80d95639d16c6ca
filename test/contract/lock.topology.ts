import { afterAll, beforeAll } from '@jest/globals';
import { ClockedTopology } from '../support/clocked-topology.js';
import { RedisGround, type RedisKind } from '../support/lock-grounds.js';
import { isFullProof } from '../support/proof-scale.js';
import { topologyBench } from '../support/topology-bench.js';
import {
  ALL_GROUPS,
  describeLocks,
  describeLocksThroughFailover,
  describeLocksUnderFaults,
  describeLocksWithin,
  ROUTED_GROUPS,
} from './lock.contract.js';
import { describeLockStore } from './lock-store.contract.js';

/** Locks on several servers: what depends on the way to them in `npm test`, all of it in the proof. */
export function describeLocksAcross(name: string, start: () => Promise<RedisKind>): void {
  let ground: RedisGround;

  beforeAll(async () => {
    ground = new RedisGround(await start());
  }, 120_000);
  afterAll(() => ground.stop());

  describeLocks(name, () => ground, isFullProof ? ALL_GROUPS : ROUTED_GROUPS);

  if (isFullProof) {
    let benches = 0;
    let topology: ClockedTopology;
    beforeAll(async () => {
      topology = await ClockedTopology.start(ground.redis);
    });
    afterAll(() => {
      topology.close();
    });
    describeLockStore(`RedisLockStore on ${name}`, () => {
      benches += 1;
      return topologyBench(topology, `s${benches}:`);
    });
    describeLocksUnderFaults(name, () => ground);
    describeLocksWithin(name, () => ground);
    // test/recovery/lock-failover.spec.ts has failovers at every size.
    describeLocksThroughFailover(name, () => ground);
  }
}
