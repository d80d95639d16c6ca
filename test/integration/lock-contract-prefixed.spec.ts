import { afterAll, beforeAll } from '@jest/globals';
import { ALL_GROUPS, describeLocks, describeLocksWithin, NAMED_GROUPS } from '../contract/lock.contract.js';
import type { RedisGround } from '../support/lock-grounds.js';
import { isFullProof } from '../support/proof-scale.js';
import { passingClient, startStandalone } from '../support/redis-kinds.js';

let ground: RedisGround;

beforeAll(async () => {
  ground = passingClient(await startStandalone(), 'x:');
}, 120_000);
afterAll(() => ground.stop());

const NAME = 'a client with a key prefix that was passed in';

describeLocks(NAME, () => ground, isFullProof ? ALL_GROUPS : NAMED_GROUPS);

describeLocksWithin(NAME, () => ground);
