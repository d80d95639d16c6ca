import { afterAll, beforeAll } from '@jest/globals';
import { ALL_GROUPS, describeLocks, UNNAMED_GROUPS } from '../contract/lock.contract.js';
import { RedisGround } from '../support/lock-grounds.js';
import { isFullProof } from '../support/proof-scale.js';
import { startStandalone } from '../support/redis-kinds.js';

let ground: RedisGround;

beforeAll(async () => {
  ground = new RedisGround(await startStandalone());
}, 120_000);
afterAll(() => ground.stop());

// The others run under a passed-in prefix; see lock-contract-prefixed.spec.ts.
describeLocks('one Redis', () => ground, isFullProof ? ALL_GROUPS : UNNAMED_GROUPS);
